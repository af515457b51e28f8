import { connect, type Socket } from 'node:net'

export type Answer = { status: number; ms: number }

/** A keep-alive connection with one request at a time that parses as little of a response as possible. */
export type Connection = {
  /** Rejects when the connection breaks; it must not be used again then. */
  send(request: Buffer): Promise<Answer>
  close(): void
}

type Waiting = { sentAt: number; resolve(answer: Answer): void; reject(error: Error): void }

const headEnd = Buffer.from('\r\n\r\n')

export async function openConnection(host: string, port: number): Promise<Connection> {
  const socket = await connected(host, port)
  socket.setNoDelay(true)
  let waiting: Waiting | null = null
  let received: Buffer = Buffer.alloc(0)

  const fail = (error: Error) => {
    waiting?.reject(error)
    waiting = null
  }
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the connection was closed')))
  socket.on('data', chunk => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const end = endOfAnswer(received)
    if (end === null || !waiting) return
    const status = Number(received.toString('latin1', 9, 12))
    received = received.subarray(end)
    const { sentAt, resolve } = waiting
    waiting = null
    resolve({ status, ms: performance.now() - sentAt })
  })

  return {
    send: request =>
      new Promise((resolve, reject) => {
        waiting = { sentAt: performance.now(), resolve, reject }
        socket.write(request)
      }),
    close: () => socket.destroy(),
  }
}

function connected(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

/** Index after the response's body, from its Content-Length; null until the body is complete. */
function endOfAnswer(received: Buffer): number | null {
  const end = received.indexOf(headEnd)
  if (end === -1) return null
  const head = received.toString('latin1', 0, end)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`a response without Content-Length: ${head}`)
  const total = end + headEnd.length + Number(length)
  return received.length < total ? null : total
}
