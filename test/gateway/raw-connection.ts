import { connect, type Socket } from 'node:net'

export type RawConnection = {
  socket: Socket
  /** Everything received so far, as Latin-1. */
  reply(): string
  isClosed(): boolean
}

/** A connection to a port of this machine on which a test writes its own bytes. */
export function connectRaw(port: number): RawConnection {
  const socket = connect(port, '127.0.0.1')
  let reply = ''
  let isClosed = false
  socket.on('data', chunk => {
    reply += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  return { socket, reply: () => reply, isClosed: () => isClosed }
}
