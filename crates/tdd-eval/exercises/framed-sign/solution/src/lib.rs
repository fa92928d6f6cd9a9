//! Paints signs.

/// The text in a frame of `width` columns, or the word that does not fit.
pub fn frame(text: &str, width: usize) -> Result<String, String> {
    if width < 5 {
        return Err(String::new());
    }
    let room = width - 4;
    let border = "*".repeat(width);
    let mut sign = vec![border.clone()];
    sign.extend(lines(text, room)?.iter().map(|line| format!("* {line:^room$} *")));
    sign.push(border);
    Ok(sign.join("\n"))
}

fn lines(text: &str, room: usize) -> Result<Vec<String>, String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let long = word.chars().count();
        if long > room {
            return Err(word.to_owned());
        }
        let last = lines.len() - 1;
        let used = lines[last].chars().count();
        if used == 0 {
            lines[last] = word.to_owned();
        } else if used + 1 + long <= room {
            lines[last] += &format!(" {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    Ok(lines)
}
