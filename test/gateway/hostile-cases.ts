export type Case = {
  name: string
  /** The bytes that the client sends; TOKEN and DEP are filled in. */
  raw: string
  /** How many requests it honestly holds, so the most that may reach an engine. Default: one. */
  most?: number
  /** It ends in the middle, so that nothing has to be answered. */
  isCut?: true
}

const crlf = '\r\n'
const auth = 'Authorization: Bearer TOKEN'
const lines = (...all: string[]) => `${all.join(crlf)}${crlf}${crlf}`
const head = (...more: string[]) =>
  lines('POST /inference/DEP/v1/chat HTTP/1.1', 'Host: gateway', auth, ...more)
const get = (target: string, ...more: string[]) =>
  lines(`GET ${target} HTTP/1.1`, 'Host: gateway', auth, ...more)
/** Bytes that a confused engine would mistake for a separate request. */
const hidden = lines('GET /v1/smuggled HTTP/1.1', 'Host: engine')
const size = `Content-Length: ${hidden.length}`
const chunked = 'Transfer-Encoding: chunked'
const inChunk = `${hidden.length.toString(16)}${crlf}${hidden}${crlf}0${crlf}${crlf}`
const afterChunks = `0${crlf}${crlf}${hidden}`

/** Two lengths in one message. */
const lengths: Case[] = [
  ['CL and TE, hidden behind the chunks', head('Content-Length: 4', chunked) + afterChunks],
  ['TE and CL, hidden behind the chunks', head(chunked, 'Content-Length: 4') + afterChunks],
  ['CL and TE, hidden in a chunk', head('Content-Length: 4', chunked) + inChunk],
  ['CL of everything and TE', head(`Content-Length: ${afterChunks.length}`, chunked) + afterChunks],
  ['two CL that differ', head('Content-Length: 0', size) + hidden],
  ['two CL that are the same', head(size, size) + hidden],
  ['two CL in one line', head(`Content-Length: 0, ${hidden.length}`) + hidden],
  ['a CL with a plus', head(`Content-Length: +${hidden.length}`) + hidden],
  ['a CL with a minus', head('Content-Length: -1') + hidden],
  ['a CL in hexadecimal', head(`Content-Length: 0x${hidden.length.toString(16)}`) + hidden],
  ['a CL with blanks within', head('Content-Length: 1 0') + hidden],
  ['an empty CL', head('Content-Length:') + hidden],
  ['a CL beyond 2^64', head('Content-Length: 18446744073709551617') + hidden],
  ['a CL with a fraction', head('Content-Length: 0.0') + hidden],
  ['a blank before the colon of CL', head(`Content-Length : ${hidden.length}`) + hidden],
  ['an underscore in CL', head(`Content_Length: ${hidden.length}`) + hidden],
  ['a CL behind a tab', head(`Content-Length:\t${hidden.length}`) + hidden],
].map(([name = '', raw = '']) => ({ name, raw }))

/** Encodings that one reader sees and another does not. */
const encodings: Case[] = [
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: identity, chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, chunked',
  `Transfer-Encoding: chunked${crlf}Transfer-Encoding: identity`,
  `Transfer-Encoding:${crlf} chunked`,
  'X: x\nTransfer-Encoding: chunked',
  'X: x\rTransfer-Encoding: chunked',
  'Transfer-Encoding: \x0bchunked',
  'Transfer-Encoding: "chunked"',
  'tRANSFER-eNCODING: CHUNKED',
  'Transfer_Encoding: chunked',
].map(line => ({ name: JSON.stringify(line), raw: head(line, size) + hidden }))

/** Chunks that are read in more than one way. */
const chunks: Case[] = [
  ['an extension of a chunk', `5;a=b${crlf}hello${crlf}0${crlf}${crlf}`],
  ['an extension with a line feed', `5;a\nhello${crlf}0${crlf}${crlf}${hidden}`],
  ['a quoted extension with a line', `5;a="${crlf}0${crlf}${crlf}${hidden}`],
  ['a size in another form', `0x5${crlf}hello${crlf}0${crlf}${crlf}${hidden}`],
  ['a size beyond 2^64', `10000000000000005${crlf}hello${crlf}0${crlf}${crlf}${hidden}`],
  ['a negative size', `-1${crlf}hello${crlf}0${crlf}${crlf}${hidden}`],
  ['a size with blanks', `5 ${crlf}hello${crlf}0${crlf}${crlf}${hidden}`],
  ['a chunk without its end', `5${crlf}hello0${crlf}${crlf}${hidden}`],
  ['lines that end in LF alone', `5\nhello\n0\n\n${hidden}`],
  ['a trailer that tells a length', `0${crlf}Content-Length: ${hidden.length}${crlf}${crlf}`],
  ['a trailer that names a host', `0${crlf}Host: elsewhere${crlf}${crlf}`],
].map(([name = '', body = '']) => ({ name, raw: head(chunked) + body, most: 1 }))

/** Bodies where none is expected, and none where one is. */
const bodies: Case[] = [
  { name: 'a GET with a body', raw: get('/inference/DEP/v1/models', size) + hidden },
  { name: 'a GET with chunks', raw: get('/inference/DEP/v1/models', chunked) + inChunk },
  {
    name: 'a body without a length',
    raw: head() + hidden,
    // Behind a request without a length another one begins, which is ours to refuse.
    most: 1,
  },
  {
    name: 'a DELETE with a body',
    raw: lines('DELETE /inference/DEP/v1/x HTTP/1.1', 'Host: g', auth, size) + hidden,
  },
  {
    name: 'a HEAD with a body',
    raw: lines('HEAD /inference/DEP/v1/x HTTP/1.1', 'Host: g', auth, size) + hidden,
  },
  { name: 'less than CL promises', raw: head('Content-Length: 1000') + hidden, isCut: true },
  {
    name: 'Expect and a body at once',
    raw: head('Expect: 100-continue', size) + hidden,
  },
  { name: 'an unknown Expect', raw: head('Expect: 200-ok', size) + hidden },
  { name: 'Expect without CL', raw: head('Expect: 100-continue') + hidden },
  {
    name: 'two honest requests',
    raw: get('/inference/DEP/v1/a') + get('/inference/DEP/v1/b'),
    most: 2,
  },
  {
    name: 'an Upgrade with a body',
    raw: head('Connection: Upgrade', 'Upgrade: websocket', size) + hidden,
  },
  {
    name: 'an Upgrade to h2c',
    raw:
      head('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAA', size) +
      hidden,
  },
  {
    name: 'Connection names CL',
    raw: head('Connection: keep-alive, Content-Length', size) + hidden,
  },
  {
    name: 'Connection names TE',
    raw: head('Connection: Transfer-Encoding', chunked) + inChunk,
  },
  { name: 'Connection names Host', raw: head('Connection: Host', size) + hidden },
]

/** Heads and targets that could name another place. */
const targets: Case[] = [
  get('http://engine/inference/DEP/v1/x'),
  get('http://engine/v1/smuggled'),
  get('//engine/inference/DEP/v1/x'),
  get('*'),
  lines('CONNECT engine:80 HTTP/1.1', 'Host: engine:80', auth) + hidden,
  lines('TRACE /inference/DEP/v1/x HTTP/1.1', 'Host: g', auth),
  get('/inference/DEP/v1/../../admin'),
  get('/inference/DEP/v1/%2e%2e/admin'),
  get('/inference/DEP/v1/%252e%252e/admin'),
  get('/inference/DEP/v1/..%2fadmin'),
  get('/inference/DEP/v1\\..\\admin'),
  get('/inference/DEP/v1/%5c..%5cadmin'),
  get('/inference/DEP/v1/a%00b'),
  get('/inference/DEP/v1/a%0d%0aHost:%20x'),
  get('/inference/DEP/v1;/../admin'),
  get('/inference/DEP/v10/x'),
  get('/inference/DEP/%76%31/x'),
  get('/inference/DEP/admin'),
  get('/inference/DEP//v1/x'),
  get('/inference/../inference/DEP/v1/x'),
  get('/inference/DEP/v1/x#/../admin'),
  get('/inference/DEP/v1/x\tHTTP/1.1'),
  get('/inference/DEP/v1/%zz'),
  get('/inference/DEP/v1/x HTTP/1.1\nX: y'),
  get('/inference/DEP/v1/x', 'Host: second'),
  get('/inference/DEP/v1/x', ' folded: value'),
  get('/inference/DEP/v1/x', 'X-One: a', '\tfolded'),
  get('/inference/DEP/v1/x', 'Bad Name: a'),
  get('/inference/DEP/v1/x', 'X-Nul: a\0b'),
  get('/inference/DEP/v1/x', 'X-Cr: a\rb'),
  get('/inference/DEP/v1/x', ': nameless'),
  get('/inference/DEP/v1/x', `${auth}2`),
  'GET /inference/DEP/v1/x\r\n\r\n',
  lines('GET /inference/DEP/v1/x HTTP/0.9', 'Host: g', auth),
  lines('GET /inference/DEP/v1/x HTTP/2.0', 'Host: g', auth),
  lines('GET /inference/DEP/v1/x HTTP/1.1', auth),
  lines('PRI * HTTP/2.0', '', 'SM'),
].map(raw => ({ name: JSON.stringify(raw.slice(0, 60)), raw, most: 1 }))

export const cases: readonly Case[] = [...lengths, ...encodings, ...chunks, ...bodies, ...targets]
