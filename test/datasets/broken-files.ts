import type { Kind } from '../../datasets/report.ts'
import { lines } from './memory-file.ts'

/** `line`: where the first fault is; `says`: what the message about it must contain. */
export type Broken = {
  title: string
  name: string
  content: string | Buffer
  line: number
  says: RegExp
  kind?: Kind
}

const text = { text: 'fine' }
const user = { role: 'user', content: 'Two and two?' }
const assistant = { role: 'assistant', content: 'Four.' }
const chat = { messages: [user, assistant] }
const call = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":2}' } }
const pair = { prompt: 'Two and two?', chosen: 'Four.', rejected: 'Five.' }

/** Rows of text, of which the third is this one. */
const third = (title: string, line: string, says: RegExp): Broken => ({
  title,
  name: 'train.jsonl',
  content: lines(text, { text: 'also' }, line, { text: 'after' }),
  line: 3,
  says,
})

/** Rows of chat, of which the second has these messages. */
const messages = (title: string, second: unknown, says: RegExp): Broken => ({
  title,
  name: 'train.jsonl',
  content: lines(chat, { messages: second }, chat),
  line: 2,
  says,
})

const table = (
  title: string,
  [content, line]: [string | Buffer, number],
  says: RegExp,
): Broken => ({
  title,
  name: 'train.csv',
  content,
  line,
  says,
})

const nested = `{"text":"x","deep":${'['.repeat(100)}${']'.repeat(100)}}`
const wide = JSON.stringify(
  Object.fromEntries([['text', 'x'], ...Array.from({ length: 1_000 }, (_, at) => [`f${at}`, 1])]),
)

export const brokenLines: readonly Broken[] = [
  third('a row that ends too early', '{"text": "cut', /closing quote/),
  third('an object that ends too early', '{"text": "cut",', /ends too early/),
  third('NaN', '{"text": "x", "score": NaN}', /NaN and Infinity are no JSON numbers: write null/),
  third('Infinity', '{"text": "x", "score": -Infinity}', /no JSON numbers/),
  third('a literal of Python', '{"text": "x", "score": None}', /Python: write null/),
  third('single quotes', "{'text': 'x'}", /double quotes/),
  third('a key without quotes', '{text: "x"}', /character 2/),
  third('a comma at the end', '{"text": "x",}', /remove the comma/),
  third('a comma missing', '{"text": "x" "more": 1}', /comma or a colon is missing/),
  third('a colon missing', '{"text" "x"}', /comma or a colon is missing/),
  third('a comment', '{"text": "x"} // fine?', /no comments/),
  third('two rows on one line', '{"text": "x"}{"text": "y"}', /second row begins at character 14/),
  third('text after the row', '{"text": "x"};', /after the end of the row, at character 14/),
  third('a tab in a string', '{"text": "a\tb"}', /U\+0009/),
  third('an escape that is none', '{"text": "C:\\dir"}', /\\d is no escape/),
  third('a number with a leading zero', '{"text": "x", "n": 007}', /not a JSON number/),
  third('a bracket of the wrong kind', '{"text": "x", "n": [1}', /character 22/),
  third('an empty line', '', /empty line/),
  third('a line of blanks', '  \t ', /empty line/),
  third('a list as a row', '["x"]', /must be an object, not a list/),
  third('a text as a row', '"x"', /must be an object/),
  third('null as a row', 'null', /not null/),
  third('a key twice', '{"text": "x", "text": "y"}', /"text" is there twice/),
  third(
    'a key twice, deep inside',
    '{"text":"x","m":[{"a":{"b":1,"c":2,"b":3}}]}',
    /"b" is there twice/,
  ),
  third(
    'a key twice, once with an escape',
    '{"text": "x", "te\\u0078t": "y"}',
    /"text" is there twice/,
  ),
  third('too deep a nesting', nested, /nested 101 deep; at most 64/),
  third('too many fields', wide, /at most 1000 fields; this one has 1001/),
  third('half of a character', '{"text": "\\ud83d"}', /lone surrogate/),
  third('an empty text', '{"text": " \\n"}', /text is empty/),
  third('a text that is null', '{"text": null}', /text is null/),
  third('a text that is a number', '{"text": 5}', /text must be text, not a number/),
  third('a missing field', '{"txt": "x"}', /needs the field text; this one has txt/),
  third('a row of another kind', JSON.stringify(chat), /kind chat, but the dataset is text/),
  third('a line of 17 MB', `{"text": "${'x'.repeat(17 * 1024 * 1024)}"}`, /at most 16 MB/),
  {
    ...third('bytes that are not UTF-8', '', /not UTF-8 \(byte 0xff at position 13\)/),
    content: Buffer.concat([
      Buffer.from(lines(text, text)),
      Buffer.from('{"text": "aé'),
      Buffer.from([0xff]),
      Buffer.from('"}\n{"text": "after"}\n'),
    ]),
    says: /not UTF-8 \(byte 0xff at position 14\)/,
  },
  {
    ...third('CRLF before the fault', '', /must be text/),
    content: '{"text": "a"}\r\n{"text": "b"}\r\n{"text": 5}\r\n',
  },
  {
    ...third('a file of UTF-16', '', /UTF-16/),
    content: Buffer.from('\ufeff{"text": "x"}\n', 'utf16le'),
    line: 1,
  },
  {
    ...third('a list over several lines', '', /one JSON list/),
    content: '[\n{"text": "x"},\n{"text": "y"}\n]\n',
    line: 1,
  },
  {
    ...third('a row over several lines', '', /ends too early/),
    content: '{\n  "text": "x"\n}\n',
    line: 1,
  },
  { ...third('an empty file', '', /no rows/), content: '', line: 1 },
  {
    ...third('fields of no kind', '', /conversations to messages/),
    content: lines({ conversations: [] }),
    line: 1,
  },
  {
    ...third('a name of no format', '', /name the file .jsonl/),
    name: 'train.json',
    content: '{}',
    line: 1,
  },
  messages('messages that are text', 'Two and two?', /messages must be a list .* not a string/),
  messages('no messages', [], /messages has no message/),
  messages('a message that is text', ['hello'], /messages\[0\] must be an object/),
  messages(
    'a role of nobody',
    [user, { role: 'judge', content: 'x' }],
    /messages\[1\]\.role is "judge": use system/,
  ),
  messages('a role of another format', [user, { role: 'gpt', content: 'x' }], /write assistant/),
  messages('a role in capitals', [{ role: 'User', content: 'x' }, assistant], /write user/),
  messages('a message without role', [user, { content: 'x' }], /messages\[1\] has no role/),
  messages('from and value', [{ from: 'human', value: 'x' }], /rename them/),
  messages(
    'a message without content',
    [user, { role: 'assistant' }],
    /messages\[1\]\.content is missing/,
  ),
  messages(
    'an empty content',
    [user, { role: 'assistant', content: '' }],
    /messages\[1\]\.content is empty/,
  ),
  messages(
    'a part of no type',
    [{ role: 'user', content: [{ text: 'x' }] }, assistant],
    /content\[0\] has no type/,
  ),
  messages(
    'the last message from the user',
    [user, assistant, user],
    /must be from the assistant, not from user/,
  ),
  messages(
    'a call of no tool',
    [user, { role: 'assistant', tool_calls: [{ id: 'a' }] }],
    /tool_calls\[0\]\.function\.name is missing/,
  ),
  messages(
    'a call whose arguments are no JSON',
    [user, { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '{a}' } }] }],
    /arguments is not the JSON/,
  ),
  messages(
    'a call by the user',
    [{ ...user, tool_calls: [call] }, assistant],
    /only the assistant calls tools/,
  ),
  messages(
    'a result without a call',
    [user, { role: 'tool', content: '4' }, assistant],
    /no assistant before it has tool_calls/,
  ),
  messages(
    'a result of another call',
    [
      user,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c2', content: '4' },
      assistant,
    ],
    /tool_call_id is "c2"/,
  ),
  {
    title: 'a preference of the same answers',
    name: 'train.jsonl',
    content: lines(pair, { ...pair, rejected: 'Four.' }),
    line: 2,
    says: /the same/,
  },
  {
    title: 'a preference without rejected',
    name: 'train.jsonl',
    content: lines(pair, { ...pair, rejected: undefined }),
    line: 2,
    says: /needs the field rejected|kind prompt/,
  },
  {
    title: 'a preference of text and messages',
    name: 'train.jsonl',
    content: lines(pair, { ...pair, chosen: [user, assistant] }),
    line: 2,
    says: /both be text/,
  },
  {
    title: 'a prompt that is a number',
    name: 'train.jsonl',
    content: lines({ prompt: 'x' }, { prompt: 1 }),
    line: 2,
    says: /text or a list of messages/,
  },
  {
    title: 'another kind than stated',
    name: 'train.jsonl',
    content: lines(text),
    line: 1,
    says: /kind text, but the dataset is chat/,
    kind: 'chat',
  },
]

export const brokenTables: readonly Broken[] = [
  table('a row with too few values', ['text,id\na,1\nb\nc,3\n', 3], /1 value for 2 columns/),
  table(
    'a row with too many values',
    ['text,id\na,1\nb,2,3\n', 3],
    /3 values for 2 columns: put a value/,
  ),
  table('a fault after a value of three lines', ['text,id\n"a\nb\nc",1\nd\n', 5], /1 value for 2/),
  table('an empty line', ['text,id\na,1\n\nb,2\n', 3], /empty line/),
  table('a quote that is never closed', ['text,id\na,1\n"b,2\nc,3\n', 3], /never closed/),
  table(
    'text after a closing quote',
    ['text,id\na,1\n"b"x,2\n', 3],
    /follows a closing double quote/,
  ),
  table('a quote inside a value', ['text,id\na,1\nb"x,2\n', 3], /inside a value/),
  table('semicolons', ['text;id\na;1\n', 1], /separated by commas, but this header has semicolons/),
  table('tabs', ['text\tid\na\t1\n', 1], /name the file .tsv/),
  table('a header of no kind', ['a,b\n1,2\n', 1], /found a, b/),
  table('a column without name', ['text,,id\na,b,c\n', 1], /column 2 has no name/),
  table('two columns of one name', ['text,id,text\na,1,b\n', 1], /two columns are named text/),
  table('a header alone', ['text,id\n', 1], /no rows/),
  table('an empty value', ['text,id\na,1\n,2\n', 3], /text is empty/),
  table(
    'bytes that are not UTF-8',
    [Buffer.from('text,id\na,1\nb\xe9,2\n', 'latin1'), 3],
    /not UTF-8 \(byte 0xe9 at position 2\)/,
  ),
  table(
    'a row of 17 MB',
    [`text,id\na,1\n"${'x\n'.repeat(9 * 1024 * 1024)}",2\n`, 3],
    /at most 16 MB/,
  ),
  table('messages that are no JSON', ['messages\n"[{""role"": ""user"""\n', 2], /must be a list/),
]
