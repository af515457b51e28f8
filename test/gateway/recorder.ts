import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'

export type Recorded = {
  /** The head as it arrived, without the empty line. */
  head: string
  body: string
}

export type Recorder = {
  url: string
  requests: Recorded[]
  /** Bytes that were not a request. */
  strays: string[]
}

/** Parses requests itself, and strictly, so that anything ambiguous to a lenient server is noticed. */
export async function startRecorder(t: ExecutionContext): Promise<Recorder> {
  const recorder: Recorder = { url: '', requests: [], strays: [] }
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    let arrived = ''
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      if (arrived !== '') recorder.strays.push(arrived)
    })
    socket.on('data', chunk => {
      arrived += chunk.toString('latin1')
      for (let next = requestIn(arrived); next; next = requestIn(arrived)) {
        arrived = arrived.slice(next.length)
        recorder.requests.push(next.request)
        const isHead = next.request.head.startsWith('HEAD ')
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${isHead ? '' : 'ok'}`)
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  recorder.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return recorder
}

/** The first complete request among the bytes so far; null: it is still incomplete. */
function requestIn(text: string): { request: Recorded; length: number } | null {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return null
  const head = text.slice(0, end)
  const from = end + 4
  if (/^transfer-encoding: chunked$/im.test(head)) {
    const last = /(?:^|\r\n)0\r\n\r\n/.exec(text.slice(from))
    if (!last) return null
    const length = from + last.index + last[0].length
    return { request: { head, body: text.slice(from, length) }, length }
  }
  const length = from + Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
  return text.length < length ? null : { request: { head, body: text.slice(from, length) }, length }
}

/** Why a server could read this head in more than one way; null: there is only one. */
export function ambiguityOf(head: string): string | null {
  const [first = '', ...lines] = head.split('\r\n')
  if (!/^[A-Z-]+ \/v1(\/\S*|\?\S*)? HTTP\/1\.1$/.test(first)) return `its first line: ${first}`
  if (/[\r\n\0]/.test(lines.join(''))) return 'a bare CR, LF or NUL'
  const strange = lines.find(line => !/^[\w!#$%&'*+.^`|~-]+: \S?.*$/.test(line))
  if (strange !== undefined) return `a line that is not a header: ${strange}`
  const named = (name: string) => lines.filter(line => line.toLowerCase().startsWith(`${name}:`))
  const lengths = named('content-length')
  const encodings = named('transfer-encoding')
  if (lengths.length + encodings.length > 1) return 'its length is given twice'
  if (encodings.some(line => !/: chunked$/i.test(line))) return 'an encoding other than chunked'
  if (named('host').length !== 1) return 'not one Host'
  return null
}
