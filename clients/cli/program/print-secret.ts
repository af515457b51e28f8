import { harmlessInColour } from '../terminal/harmless.ts'
import { exitCode, Failure } from './failure.ts'
import type { World } from './session.ts'

/** Prints what is shown only once; `lost` says what happened to it, and how to get another, if it could not be printed. */
export async function printSecret(
  { printing }: World,
  lines: readonly string[],
  lost: string,
): Promise<void> {
  try {
    await printing.whole(lines.map(line => `${harmlessInColour(line)}\n`).join(''))
  } catch (error) {
    throw new Failure(exitCode.unwritten, `${lost} (${(error as Error).message})`)
  }
}
