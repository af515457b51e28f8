"""How running code describes its run: name, notes and tags. `describe` is a method of `Run`."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Sequence

from .texts import printable_name

# The service accepts no more (README.md, "Calls").
NAME_CHARS = 256
NOTES_CHARS = 16_384
TAG_CHARS = 64
MOST_TAGS = 64


def describe(
    self: Any,
    name: Optional[str] = None,
    *,
    notes: Optional[str] = None,
    tags: Optional[Iterable[str]] = None,
    add_tags: Optional[Iterable[str]] = None,
) -> None:
    """Renames, annotates or tags the run: `forge.describe("lr sweep, best", notes="Diverges after step 900.")`.

    name      the first 256 characters
    notes     the first 16,384 characters, as Markdown; they replace earlier notes
    tags      replace all tags of the run
    add_tags  are added to the tags that it has
    """
    if not self._speaks or self._ended:
        return self._say_ended()
    try:
        self._post_soon("description", description(name, notes, tags, add_tags))
    except Exception as error:
        self._refuse("run not described", [str(error)])


def description(
    name: Optional[str], notes: Optional[str], tags: Optional[Iterable[str]], add_tags: Optional[Iterable[str]]
) -> Dict[str, Any]:
    """The fields of a report; None leaves a field unchanged."""
    fields: Dict[str, Any] = {}
    if name is not None:
        fields["name"] = printable_name(str(name).strip(), NAME_CHARS)
        if not fields["name"]:
            raise ValueError("a run needs a name")
    if notes is not None:
        fields["notes"] = str(notes)[:NOTES_CHARS]
    if tags is not None:
        fields["tags"] = tag_list(tags)
    if add_tags is not None:
        fields["add_tags"] = tag_list(add_tags)
    if not fields:
        raise ValueError("give a name, notes or tags")
    return fields


def tag_list(tags: Iterable[str]) -> List[str]:
    """Each once, as the service accepts them; a single text is one tag."""
    given = [tags] if isinstance(tags, str) else tags
    cleaned = (printable_name(str(tag).strip(), TAG_CHARS) for tag in given)
    return list(dict.fromkeys(tag for tag in cleaned if tag))[:MOST_TAGS]


def tag_change(had: Sequence[str], wanted: Sequence[str]) -> Dict[str, Any]:
    """What `describe` gets. The run may have tags that are unknown here, so only a removal replaces all of them."""
    if not set(had).issubset(wanted):
        return {"tags": wanted}
    added = [tag for tag in wanted if tag not in had]
    return {"add_tags": added} if added else {}
