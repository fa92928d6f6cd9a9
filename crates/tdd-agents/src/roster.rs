//! Maps each role to its model and server.

use tdd_core::config::{Config, Protocol};
use tdd_core::cycle::Role;
use tdd_llm::route::{self, NoServer, Route, Server, Servers};

/// A role with its model.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleConfig {
    /// The role.
    pub role: Role,
    /// The model's name in the config.
    pub model: String,
    /// The server for the model.
    pub route: Result<Route, NoServer>,
    /// From 0 to 2, if configured.
    pub temperature: Option<f64>,
    /// How the model answers.
    pub protocol: Protocol,
}

/// The roles that the config gives a model, in the order of the cycle.
pub fn roster(config: &Config) -> Vec<RoleConfig> {
    let servers = servers(config);
    Role::ALL.into_iter().filter_map(|role| seat(role, config, &servers)).collect()
}

fn seat(role: Role, config: &Config, servers: &Servers) -> Option<RoleConfig> {
    let settings = config.roles.get(role)?;
    Some(RoleConfig {
        role,
        model: settings.model.clone(),
        route: route::route(&settings.model, servers),
        temperature: settings.temperature,
        protocol: settings.protocol,
    })
}

fn servers(config: &Config) -> Servers {
    let default = config
        .llm
        .base_url
        .as_ref()
        .map(|base_url| Server { base_url: base_url.clone(), api_key_env: config.llm.api_key_env.clone() });
    let named = config.llm.providers.iter().map(|(name, provider)| {
        let server = Server { base_url: provider.base_url.clone(), api_key_env: provider.api_key_env.clone() };
        (name.clone(), server)
    });
    Servers { default, named: named.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_configured_role_has_a_seat_with_its_own_server() {
        let config = Config::parse(
            "roles:\n  refactorer: { model: 'mine:small' }\n  tester: { model: 'openai:big', temperature: 0.4 }\n\
             llm:\n  base_url: http://one/v1\n  providers: { mine: { base_url: http://mine/v1, api_key_env: MINE } }\n",
        )
        .unwrap();
        let seats = roster(&config);
        let shown: Vec<_> = seats
            .iter()
            .map(|seat| {
                let route = seat.route.as_ref().unwrap();
                (seat.role, route.server.base_url.as_str(), route.model.as_str())
            })
            .collect();
        assert_eq!(
            shown,
            [(Role::Tester, "https://api.openai.com/v1", "big"), (Role::Refactorer, "http://mine/v1", "small"),]
        );
    }
}
