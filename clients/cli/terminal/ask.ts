import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { Interrupted, usageFailure } from '../program/failure.ts'
import type { Process } from '../program/process.ts'

/** Whether somebody sits at a terminal. */
export const mayAsk = ({ stdin, stderr }: Process): boolean =>
  stdin.isTTY === true && stderr.isTTY === true

/** Asks on a terminal; without one, fails and names the flag to use. */
export async function ask(
  process: Process,
  question: string,
  flag: string,
  { isHidden = false } = {},
): Promise<string> {
  const { stdin, stderr } = process
  if (!mayAsk(process)) throw usageFailure(`Cannot ask without a terminal; give ${flag}`)
  let isMuted = false
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!isMuted) stderr.write(chunk)
      done()
    },
  })
  const lines = createInterface({ input: stdin, output, terminal: true })
  const interrupted = new Promise<never>((_, reject) => {
    lines.once('SIGINT', () => reject(new Interrupted()))
  })
  const answer = lines.question(question)
  isMuted = isHidden
  try {
    return await Promise.race([answer, interrupted])
  } finally {
    lines.close()
    if (isHidden) stderr.write('\n')
  }
}

export async function firstLineOfStdin(process: Process): Promise<string> {
  const [line = ''] = await linesOfStdin(process)
  if (line === '') throw usageFailure('Standard input is empty')
  return line
}

export const linesOfStdin = async (process: Process): Promise<string[]> =>
  (await textOfStdin(process)).split(/\r?\n/)

export async function textOfStdin({ stdin }: Process): Promise<string> {
  let text = ''
  for await (const chunk of stdin) text += chunk
  return text
}
