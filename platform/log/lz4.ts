import { createOutput, type Output } from './back-references.ts'

/**
 * Reads LZ4 frames (lz4_Frame_format.md), as other producers of a Kafka topic may write them. Checksums are not
 * compared: Kafka's batch has its own. There is no writer, because Forge compresses its values itself.
 */
export function readLz4Frame(frame: Buffer, maxBytes: number): Buffer {
  if (frame.length < 7 || frame.readUInt32LE(0) !== frameMagic) throw new Error('no LZ4 frame')
  const flags = frame.readUInt8(4)
  const bytesIf = (bit: number, bytes: number) => ((flags & bit) === 0 ? 0 : bytes)
  const output = createOutput(maxBytes)
  let at = 7 + bytesIf(contentSizeFlag, 8) + bytesIf(dictionaryFlag, 4)
  for (let size = frame.readUInt32LE(at); size !== 0; size = frame.readUInt32LE(at)) {
    const block = frame.subarray(at + 4, at + 4 + (size & ~storedFlag))
    if (size & storedFlag) output.literals(block, 0, block.length)
    else readBlock(block, output)
    at += 4 + (size & ~storedFlag) + bytesIf(blockChecksumFlag, 4)
  }
  return output.done()
}

const frameMagic = 0x184d2204
const contentSizeFlag = 0x08
const dictionaryFlag = 0x01
const blockChecksumFlag = 0x10
/** Flag in the size of a block: it is not compressed. */
const storedFlag = 0x8000_0000 | 0

/** Sequences of literals and a copy; the last one ends after its literals. */
function readBlock(block: Buffer, output: Output): void {
  let at = 0
  const length = (first: number) => {
    let total = first
    for (let more = first === 15 ? 255 : 0; more === 255; ) {
      more = block.readUInt8(at++)
      total += more
    }
    return total
  }
  while (at < block.length) {
    const token = block.readUInt8(at++)
    const literals = length(token >> 4)
    output.literals(block, at, literals)
    at += literals
    if (at >= block.length) return
    const distance = block.readUInt16LE(at)
    at += 2
    output.copy(distance, length(token & 15) + 4)
  }
}
