"""Anchor element paths worked out from examples: which links of a page belong to one list, and what labels the list.

The paper takes the paths as given. Here a link's list is found from the page itself: the links with the same path of
elements, in the stretch of page that one label ("Starring:", a heading, a table's head) stands over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wayhound.chains.tokens import TokenPage, Tree
from wayhound.learn.landmarks import TokenClass, class_of

_LABEL_TAGS = frozenset("h2 h3 h4 h5 h6 dt caption legend th label b strong summary".split())
_MAX_LABEL_WORDS = 8
_MAX_INLINE_WORDS = 2
_CONNECTORS = frozenset("and or with by et und y e и & of the a an in on for to from via see also".split())
_BRACKETS = frozenset("<([{")
_CLOSING = frozenset(">)]}")
_NEAR_BRACKET = 8
_LINK_ENDS = frozenset({"</a>"})
_SENTENCE = frozenset(".!?;")


@dataclass(frozen=True, slots=True)
class Label:
    """A label of a list: its tokens from `begin` up to `end`, and the stretch of page that it stands over.

    `parent` is the element that holds label and list; `member` the child of it that holds the link. `words` are the
    words of the label.
    """

    begin: int
    end: int
    parent: int
    member: int
    region_end: int
    words: tuple[str, ...]


def find_label(page: TokenPage, anchor: int) -> Label | None:
    """Return the nearest label before a link (by its opening tag), searched from the link's element upwards."""
    tree = page.tree
    child = tree.opened[anchor]
    for parent in tree.ancestors(child):
        if tree.elements[parent].tag in ("html", "head"):
            return None
        span = _label_before(page, parent, tree.elements[child].open)
        if span:
            begin, end, signature = span
            member_end = tree.elements[child].close
            stop = _next_label(page, parent, member_end, signature)
            return Label(begin, end, parent, child, stop, _words(page.tokens[begin:end]))
        child = parent
    return None


def _label_before(page: TokenPage, parent: int, before: int) -> tuple[int, int, str] | None:
    """Scan the children of an element leftwards for a label: its tokens, and the signature of its element."""
    tree, tokens = page.tree, page.tokens
    first = tree.elements[parent].open + 1
    token = before - 1
    run_end = before
    while token >= first - 1:
        is_text = token >= first and (tokens[token][0] != "<" or len(tokens[token]) == 1)
        if is_text:
            token -= 1
            continue
        if _is_inline_label(tokens[token + 1 : run_end]):
            return token + 1, run_end, ""
        if token < first:
            return None
        element = tree.closed.get(token)
        if element is None or tree.elements[element].parent != parent:
            element = _ended_at(tree, parent, token)
        if element is not None:
            opened = tree.elements[element].open
            if _is_label(page, element):
                return opened, token + 1, tree.elements[element].signature
            token = opened
        run_end = token
        token -= 1
    return None


def _ended_at(tree: Tree, parent: int, token: int) -> int | None:
    """Return the child that a token lies in the end of, for elements without a closing tag of their own."""
    element = tree.opened.get(token, tree.owner[token])
    while element > 0 and tree.elements[element].parent != parent:
        element = tree.elements[element].parent
    return element if element > 0 else None


def _next_label(page: TokenPage, parent: int, after: int, signature: str) -> int:
    """Return where the next label of the same kind begins among the children of an element, or its end."""
    tree, tokens = page.tree, page.tokens
    end = tree.elements[parent].close
    token = after + 1
    run_start = token
    while token < end:
        element = tree.opened.get(token)
        if element is None:
            if tokens[token][0] == "<" and len(tokens[token]) > 1:
                run_start = token + 1
            elif (
                not signature
                and _is_inline_label(tokens[run_start : token + 1])
                and _is_run_end(tokens, token)
            ):
                return run_start
            token += 1
            continue
        node = tree.elements[element]
        if signature and node.signature == signature and _is_label(page, element):
            return token
        token = max(node.close, token) + (1 if node.close in tree.closed else 0) or token + 1
        token = max(token, tree.elements[element].open + 1)
        run_start = token
    return end


def _is_run_end(tokens: Sequence[str], token: int) -> bool:
    following = tokens[token + 1] if token + 1 < len(tokens) else "<"
    return following[0] == "<"


def _is_label(page: TokenPage, element: int) -> bool:
    """Return True for a short text without links that is set as a heading, or ends with a colon."""
    tree, node = page.tree, page.tree.elements[element]
    tokens = page.tokens[node.open + 1 : node.close]
    texts = [(place, token) for place, token in enumerate(tokens, node.open + 1) if _is_visible(token)]
    words = [token for _, token in texts if class_of(token) in _WORD_CLASSES]
    if not words or len(words) > _MAX_LABEL_WORDS or any(token[:3] in ("<a ", "<a>") for token in tokens):
        return False
    if any(token[:3] == "<h1" for token in page.tokens[node.open : node.close]):
        return False  # the title of the page itself
    if texts[-1][1] in (":", "："):
        return True
    return all(_in_label_tag(tree, tree.owner[place], element) for place, _ in texts)


def _in_label_tag(tree: Tree, owner: int, top: int) -> bool:
    while owner >= top:
        if tree.elements[owner].tag in _LABEL_TAGS:
            return True
        owner = tree.elements[owner].parent
    return False


def _is_inline_label(run: Sequence[str]) -> bool:
    """Return True for text such as "Cast:" or "extends" right between links, and not for prose or connectors."""
    visible = [token for token in run if _is_visible(token)]
    words = [token for token in visible if class_of(token) in _WORD_CLASSES]
    if not words or any(token in _SENTENCE for token in visible):
        return False
    if visible[-1] in (":", "："):
        return len(words) <= _MAX_LABEL_WORDS
    if len(words) > _MAX_INLINE_WORDS or len(visible) > len(words):
        return False
    return all(word.isalpha() and word.islower() and word not in _CONNECTORS for word in words)


_WORD_CLASSES = frozenset(
    {TokenClass.ALPHABETIC, TokenClass.ALL_CAPS, TokenClass.ALPHANUMERIC, TokenClass.NUMERIC}
)


def _is_visible(token: str) -> bool:
    return (token[0] != "<" or len(token) == 1) and not token.isspace()


def _words(tokens: Iterable[str]) -> tuple[str, ...]:
    return tuple(token for token in tokens if _is_visible(token) and class_of(token) in _WORD_CLASSES)


def alike(page: TokenPage, anchor: int, begin: int, end: int) -> list[int]:
    """Return the links between two tokens with the same path of elements as a link, that link included."""
    tree = page.tree
    path = tree.paths[tree.opened[anchor]]
    in_brackets = _follows_bracket(page, anchor)
    return [
        token
        for token in page.link_tokens
        if begin <= token < end
        and tree.paths[tree.opened[token]] == path
        and _follows_bracket(page, token) == in_brackets
    ]


def _follows_bracket(page: TokenPage, anchor: int) -> bool:
    """Return True for a link that qualifies what stands before it, such as the B of `A<B>` or `A (B)`."""
    return anchor > 0 and page.tokens[anchor - 1] in _BRACKETS


def _is_in_brackets(page: TokenPage, anchor: int) -> bool:
    """Return True if a bracket stands open before a link, as in `A<T extends B>`; a few tokens are looked at."""
    depth = 0
    for token in reversed(page.tokens[max(anchor - _NEAR_BRACKET, 0) : anchor]):
        depth += (token in _BRACKETS) - (token in _CLOSING)
        if depth > 0:
            return True
        if token[0] == "<" and len(token) > 1 and token not in _LINK_ENDS:
            break
    return False


def are_alike(page: TokenPage, anchors: Sequence[int]) -> bool:
    """Return True if all links have one path of tags, whatever the attributes."""
    return len({tag_path(page, anchor) for anchor in anchors}) <= 1


def place_of(page: TokenPage, anchor: int) -> tuple[int, int, bool]:
    """Return the element that holds a link and the link's path: like links in one element share it."""
    element = page.tree.opened[anchor]
    return page.tree.elements[element].parent, page.tree.paths[element], _is_in_brackets(page, anchor)


def is_parted(page: TokenPage, anchors: Iterable[int]) -> bool:
    """Return True if some element holds one of these links and a like one that is not among them."""
    chosen = set(anchors)
    places = {place_of(page, anchor) for anchor in chosen}
    return any(token not in chosen and place_of(page, token) in places for token in page.link_tokens)


def tag_path(page: TokenPage, anchor: int) -> int:
    """Return a number that links with the same path of tags share on a page."""
    return page.tree.tag_paths[page.tree.opened[anchor]]


def list_path(page: TokenPage, anchor: int, label: Label | None) -> tuple[str, ...]:
    """Return the path by which examples on several pages are aligned: repeated nesting is counted once.

    It begins at the element that holds label and list, or six elements above the link.
    """
    tree = page.tree
    path = [tree.elements[tree.opened[anchor]].signature]
    for element in tree.ancestors(tree.opened[anchor]):
        if label and element == label.parent:
            path.append(tree.elements[element].tag)
            break
        path.append(tree.elements[element].signature)
    collapsed = _collapse(path[::-1])
    return tuple(collapsed if label else collapsed[-6:])


def _collapse(path: list[str]) -> list[str]:
    """Drop repeated units of one or two elements: ul > li > ul > li counts as ul > li."""
    kept: list[str] = []
    for item in path:
        kept.append(item)
        for width in (1, 2):
            if len(kept) >= 2 * width and kept[-width:] == kept[-2 * width : -width]:
                del kept[-width:]
    return kept
