import type { Executor } from '../../executor/port.ts'
import { until } from '../servers/until.ts'

export async function outputOf(
  executor: Executor,
  ref: string,
): Promise<{ stdout: Buffer; stderr: Buffer }> {
  const pieces = await executor.output(ref, [], 10_000_000)
  const whole = (stream: string) =>
    Buffer.concat(pieces.filter(piece => piece.stream === stream).map(piece => piece.bytes))
  return { stdout: whole('stdout'), stderr: whole('stderr') }
}

export async function untilPrinted(executor: Executor, ref: string, text: string): Promise<void> {
  await until(`${ref} printed ${text}`, 50_000, async () =>
    (await outputOf(executor, ref)).stdout.toString().includes(text),
  )
}
