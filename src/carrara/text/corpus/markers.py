"""Chat markers: what models are told turns, tools and thoughts by, such as `<|im_end|>` or `[INST]`.

A server that reads special tokens out of a prompt's text would take one in a book for the end of the turn, and a
reader of replies would cut off what quotes it. A sentence that has one is therefore no filler: taking the marker out of
it alone would leave a half of what it stood in. What is looked for are the words that tokenizers have for themselves;
what people write in prose, in HTML or in code for other ends is not meant, as far as one can be told from the other.
"""

import re
from functools import cache

from carrara.core.unicode import unicode14

_THOUGHTS = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)"
_ANGLED = rf"""
    /?(?: s | bos | eos | sop | eop | eod | pad | unk | mask | cls | sep | eoh | eoa | eot
    | {_THOUGHTS} | (?:seed|minimax):\w{{1,40}}
    | (?:start|end)_of_(?:turn|image|audio|video|text|speech|document|message|thought|utterance)
    | (?:start|end|begin)_(?:header_id|header|turn|sentence|message)
    | (?:begin|end)[_▁]of[_▁](?:text|sentence|box|image|video|audio|plugin|tool_(?:call|description))
    | (?:tool|function)_?(?:calls?|responses?|results?|outputs?|declarations?) | tools
    | fim[_-](?:prefix|middle|suffix|pad|hole|begin|end) | (?:repo|file)_?(?:name|sep) | gh_stars
    | im_(?:start|end|sep|patch) | image_soft_token
    | (?:commit|issue|jupyter)_(?:before|after|msg|start|comment|closed|text|code|output|script)
    | (?:extra_id_|special_|unused|reserved_special_token_)[0-9]{{1,6}} | 0x[0-9a-f]{{2}}
    )
"""
_BRACKETED = r"""
    INST | SYSTEM_PROMPT | AVAILABLE_TOOLS | TOOL_(?:CALLS?|RESULTS?|CONTENT) | ARGS | CALL_ID | THINK | MODEL_SETTINGS
    | PREFIX | MIDDLE | SUFFIX | IMG(?:_BREAK|_END)? | (?:BEGIN_)?AUDIO
    | CLS | SEP | MASK | PAD | UNK | BOS | EOS | gMASK | sMASK
"""
_MARKER = rf"""
<(?: [|｜][^\s|｜<>]{{1,64}}[|｜]>         # <|im_start|>, <｜User｜>, <|any_name|>
   | (?i:{_ANGLED})>                      # <s>, </s>, <start_of_turn>, </think>, <tool_call>
   | <(?i:/?SYS)>>                        # <<SYS>>, <</SYS>>
)
| \[(?: /?(?:{_BRACKETED})\] | (?i:/?{_THOUGHTS})\] )
| ◁/?{_THOUGHTS}▷
| \]<\][^\s<>\[\]]{{1,40}}\[>\[            # ]<]end_of_sentence[>[
| \#\#\#\ (?:Instruction|Response|Input|Human|Assistant|User|System):
"""


@cache
def _pattern() -> re.Pattern[str]:
    """Return the compiled pattern. Compiling takes a tenth of a second, so it waits for the first text."""
    return re.compile(_MARKER, re.VERBOSE)


def has_marker(text: str) -> bool:
    """
    >>> has_marker("The end.<|im_end|>"), has_marker("[INST] Go on."), has_marker("<think> Why?")
    (True, True, True)
    >>> has_marker("So <i>she</i> thinks [sic], and x <| f |> y."), has_marker("[Stage: a mask is put on]")
    (False, False)
    """
    # Only between angle brackets may a marker have letters of any script.
    return _pattern().search(unicode14(text) if "<" in text else text) is not None
