import { harmlessInColour } from '../terminal/harmless.ts'
import { exitCode, Failure } from './failure.ts'
import type { World } from './session.ts'

/** Prints a secret that is shown only once; if that fails, `lost` describes its fate and the way to another one. */
export async function printSecret(
  { printing }: World,
  lines: readonly string[],
  lost: string,
): Promise<void> {
  try {
    await printing.writeOrFail(lines.map(line => `${harmlessInColour(line)}\n`).join(''))
  } catch (error) {
    throw new Failure(exitCode.unwritten, `${lost} (${(error as Error).message})`)
  }
}
