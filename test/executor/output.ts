import type { Executor } from '../../executor/port.ts'
import { until } from '../servers/until.ts'

export async function outputOf(
  executor: Executor,
  ref: string,
  rank = 0,
): Promise<{ stdout: Buffer; stderr: Buffer }> {
  const pieces = await executor.output(ref, [], 10_000_000)
  const whole = (stream: string) =>
    Buffer.concat(
      pieces
        .filter(piece => piece.stream === stream && piece.rank === rank)
        .map(piece => piece.bytes),
    )
  return { stdout: whole('stdout'), stderr: whole('stderr') }
}

export async function untilPrinted(
  executor: Executor,
  ref: string,
  text: string,
  rank = 0,
): Promise<void> {
  await until(`rank ${rank} of ${ref} printed ${text}`, 50_000, async () =>
    (await outputOf(executor, ref, rank)).stdout.toString().includes(text),
  )
}
