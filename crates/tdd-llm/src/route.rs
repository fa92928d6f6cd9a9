//! Maps a model's name to a server.

use std::collections::BTreeMap;

use secrecy::SecretString;

/// A server that speaks the OpenAI protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The base URL, without a trailing `/`.
    pub base_url: String,
    /// The environment variable that holds the API key.
    pub api_key_env: Option<String>,
}

impl Server {
    /// The API key in the environment `vars`, if the server needs one.
    pub fn key(&self, vars: impl Fn(&str) -> Option<String>) -> Option<SecretString> {
        let key = vars(self.api_key_env.as_deref()?)?;
        (!key.trim().is_empty()).then(|| SecretString::from(key))
    }
}

/// The configured servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Servers {
    /// For models without a provider.
    pub default: Option<Server>,
    /// Servers by provider name.
    pub named: BTreeMap<String, Server>,
}

/// A model's server, and its name there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The server.
    pub server: Server,
    /// The model's name in a request.
    pub model: String,
}

/// A model has no server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no server is configured for the model `{model}`")]
pub struct NoServer {
    /// The model's name in the config.
    pub model: String,
}

/// Providers that need no config: name, base URL, variable of the key.
const BUILT_IN: [(&str, &str, Option<&str>); 8] = [
    ("deepseek", "https://api.deepseek.com/v1", Some("DEEPSEEK_API_KEY")),
    ("glm", "https://open.bigmodel.cn/api/paas/v4", Some("GLM_API_KEY")),
    ("groq", "https://api.groq.com/openai/v1", Some("GROQ_API_KEY")),
    ("lmstudio", "http://localhost:1234/v1", None),
    ("mistral", "https://api.mistral.ai/v1", Some("MISTRAL_API_KEY")),
    ("ollama", "http://localhost:11434/v1", None),
    ("openai", "https://api.openai.com/v1", Some("OPENAI_API_KEY")),
    ("openrouter", "https://openrouter.ai/api/v1", Some("OPENROUTER_API_KEY")),
];

/// Finds the server of a model.
///
/// The text before the first `:` is a provider only if it names a configured or built-in one; otherwise the whole
/// string is the model's name. If only a default server is configured, it also serves models of built-in providers.
pub fn route(model: &str, servers: &Servers) -> Result<Route, NoServer> {
    if let Some((provider, name)) = model.split_once(':').filter(|(_, name)| !name.is_empty()) {
        if let Some(server) = servers.named.get(provider) {
            return Ok(Route { server: server.clone(), model: name.to_owned() });
        }
        if let Some(built_in) = built_in(provider) {
            let only = servers.default.clone().filter(|_| servers.named.is_empty());
            return Ok(Route { server: only.unwrap_or(built_in), model: name.to_owned() });
        }
    }
    let server = servers.default.clone().ok_or_else(|| NoServer { model: model.to_owned() })?;
    Ok(Route { server, model: model.to_owned() })
}

fn built_in(provider: &str) -> Option<Server> {
    let (_, base_url, key) = BUILT_IN.into_iter().find(|(name, _, _)| *name == provider)?;
    Some(Server { base_url: base_url.to_owned(), api_key_env: key.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(base_url: &str) -> Server {
        Server { base_url: base_url.to_owned(), api_key_env: None }
    }

    fn servers(default: Option<&str>, named: &[(&str, &str)]) -> Servers {
        let named = named.iter().map(|(name, url)| ((*name).to_owned(), server(url))).collect();
        Servers { default: default.map(server), named }
    }

    fn check(model: &str, servers: &Servers, expected: (&str, &str)) {
        let route = route(model, servers).unwrap();
        assert_eq!((route.server.base_url.as_str(), route.model.as_str()), expected);
    }

    #[test]
    fn with_one_server_a_built_in_prefix_is_dropped() {
        let one = servers(Some("http://one/v1"), &[]);
        check("openai:gpt-4.1-mini", &one, ("http://one/v1", "gpt-4.1-mini"));
        check("deepseek:coder-v2", &one, ("http://one/v1", "coder-v2"));
    }

    #[test]
    fn a_prefix_that_is_no_provider_belongs_to_the_name() {
        let one = servers(Some("http://one/v1"), &[]);
        check("qwen2.5-coder:7b", &one, ("http://one/v1", "qwen2.5-coder:7b"));
        check("plain", &one, ("http://one/v1", "plain"));
        check("openai:", &one, ("http://one/v1", "openai:"));
    }

    #[test]
    fn a_configured_provider_comes_before_a_built_in_one() {
        let some = servers(Some("http://one/v1"), &[("openai", "http://proxy/v1"), ("mine", "http://mine/v1")]);
        check("openai:gpt", &some, ("http://proxy/v1", "gpt"));
        check("mine:llama3:8b", &some, ("http://mine/v1", "llama3:8b"));
        check("deepseek:chat", &some, ("https://api.deepseek.com/v1", "chat"));
        check("qwen:7b", &some, ("http://one/v1", "qwen:7b"));
    }

    #[test]
    fn a_model_that_leads_nowhere_is_named() {
        let none = Servers::default();
        assert_eq!(route("qwen:7b", &none).unwrap_err().model, "qwen:7b");
        check("ollama:qwen:7b", &none, ("http://localhost:11434/v1", "qwen:7b"));
    }
}
