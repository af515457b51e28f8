import { createOutput, type Output } from './back-references.ts'

/** Header of the Java clients' blocks: a name, and two versions of four bytes. */
const javaMagic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0])
const javaHeaderBytes = 16

/** Reads Snappy as Kafka's producers write it: in numbered blocks (Java) or as one (librdkafka). */
export function readSnappy(bytes: Buffer, maxBytes: number): Buffer {
  const output = createOutput(maxBytes)
  if (!bytes.subarray(0, javaMagic.length).equals(javaMagic)) {
    readBlock(bytes, output)
    return output.done()
  }
  for (let at = javaHeaderBytes; at < bytes.length; ) {
    const size = bytes.readInt32BE(at)
    const block = bytes.subarray(at + 4, at + 4 + size)
    if (size <= 0 || block.length < size) throw new Error('it ends inside a Snappy block')
    readBlock(block, output)
    at += 4 + size
  }
  return output.done()
}

/** The length as a varint, then literals and copies (snappy/format_description.txt). */
function readBlock(block: Buffer, output: Output): void {
  let at = 0
  while (block.readUInt8(at++) > 127);
  while (at < block.length) {
    const tag = block.readUInt8(at++)
    at = elements[tag & 3]?.(block, at, tag >> 2, output) ?? block.length
  }
}

/** Each returns where the next element begins; `rest` are the upper six bits of the tag. */
type Element = (block: Buffer, at: number, rest: number, output: Output) => number

const literal: Element = (block, at, rest, output) => {
  const extra = rest < 60 ? 0 : rest - 59
  const length = (extra === 0 ? rest : block.readUIntLE(at, extra)) + 1
  output.literals(block, at + extra, length)
  return at + extra + length
}

const elements: readonly Element[] = [
  literal,
  (block, at, rest, output) => {
    output.copy(((rest >> 3) << 8) | block.readUInt8(at), (rest & 7) + 4)
    return at + 1
  },
  (block, at, rest, output) => {
    output.copy(block.readUInt16LE(at), rest + 1)
    return at + 2
  },
  (block, at, rest, output) => {
    output.copy(block.readUInt32LE(at), rest + 1)
    return at + 4
  },
]
