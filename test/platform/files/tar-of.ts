import { gzipSync } from 'node:zlib'

/** An entry of a tar file, including ones that no honest program writes. */
export type Given = {
  path: string
  /** The type flag: `0` a file, `5` a folder, `2` a symbolic link, … */
  type?: string
  link?: string
  mode?: number
  content?: string | Buffer
  /** Default: that of the content. */
  size?: number
}

const block = 512

/** The bytes of one entry, POSIX `ustar`. */
export function entryOf({ path, type = '0', link = '', mode = 0o644, ...body }: Given): Buffer {
  const content = Buffer.from(body.content ?? '')
  const header = Buffer.alloc(block)
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1')
  header.write(path, 0, 100)
  octal(mode, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(body.size ?? content.length, 124, 12)
  octal(0, 136, 12)
  header.write(type, 156, 'latin1')
  header.write(link, 157, 100)
  header.write('ustar\u000000', 257, 'latin1')
  header.fill(' ', 148, 156)
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  )
  return Buffer.concat([header, content, Buffer.alloc((block - (content.length % block)) % block)])
}

const endOfTar = Buffer.alloc(2 * block)

export const tarOf = (...entries: readonly Given[]): Buffer =>
  Buffer.concat([...entries.map(entryOf), endOfTar])

export const packed = (...entries: readonly Given[]): Buffer => gzipSync(tarOf(...entries))
