//! Documents of the project as parts of a page.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

const SCROLL: &str = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\">";

/// Markdown as HTML. Its headings begin with the second level, since a page has its own first. Markup
/// in it is shown as text. A link stays where it leads to the web or to a heading; of a file of the
/// project, which the site does not have, the words stay.
pub(super) fn html(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let (mut open, mut is_head) = (Vec::new(), false);
    let events = Parser::new_ext(markdown, options).filter_map(|event| match event {
        // The page has a title already.
        Event::Start(Tag::Heading {
            level: HeadingLevel::H1,
            ..
        }) => {
            is_head = true;
            None
        }
        Event::End(TagEnd::Heading(HeadingLevel::H1)) => {
            is_head = false;
            None
        }
        _ if is_head => None,
        Event::Start(Tag::Link {
            dest_url,
            title,
            link_type,
            id,
        }) => {
            let stays = is_kept(&dest_url);
            open.push(stays);
            stays.then_some(Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }))
        }
        Event::End(TagEnd::Link) => open.pop().unwrap_or(false).then_some(event),
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        // Text that scrolls is reached by the keyboard.
        Event::Start(Tag::CodeBlock(_)) => Some(raw("<pre tabindex=\"0\"><code>")),
        Event::End(TagEnd::CodeBlock) => Some(raw("</code></pre>\n")),
        other => Some(other),
    });
    // A wide table scrolls by itself, and not with the page.
    let events = events.flat_map(|event| match event {
        Event::Start(Tag::Table(_)) => [Some(raw(SCROLL)), Some(event)],
        Event::End(TagEnd::Table) => [Some(event), Some(raw("</div>\n"))],
        event => [Some(event), None],
    });
    let mut out = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut out, events.flatten());
    out
}

fn raw(text: &'static str) -> Event<'static> {
    Event::Html(CowStr::Borrowed(text))
}

fn is_kept(link: &str) -> bool {
    crate::report::markdown::is_web_address(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_text_and_links_lead_to_the_web_alone() {
        let out = html(
            "# Title\n\n## Part\n\nA <script>alert(1)</script> [file](docs/x.md) [web](https://example.org) \
             [bad](javascript:alert(1)) `<b>`\n\n<iframe src=x></iframe>\n",
        );
        assert!(
            !out.contains("Title") && out.contains("<h2>Part</h2>"),
            "{out}"
        );
        assert!(
            !out.contains("<script") && !out.contains("<iframe"),
            "{out}"
        );
        assert!(
            !out.contains("javascript:") && !out.contains("docs/x.md"),
            "{out}"
        );
        assert!(
            out.contains("file") && out.contains("<a href=\"https://example.org\">web</a>"),
            "{out}"
        );
        assert!(out.contains("<code>&lt;b&gt;</code>"), "{out}");
    }

    #[test]
    fn a_table_scrolls_by_itself() {
        let out = html("| a | b |\n|---|--:|\n| 1 | `2` |\n");
        assert!(
            out.contains("<div class=\"scroll\"") && out.contains("<code>2</code>"),
            "{out}"
        );
        assert_eq!(
            (out.matches("<th").count(), out.matches("<td").count()),
            (3, 2),
            "{out}"
        );
    }
}
