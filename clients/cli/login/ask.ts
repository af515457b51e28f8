import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { exitCode, usageFailure } from '../failure.ts'

/** Asks on a terminal; without one, fails and names the flag to use. */
export async function ask(
  question: string,
  flag: string,
  { isHidden = false } = {},
): Promise<string> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw usageFailure(`Cannot ask without a terminal; give ${flag}`)
  let isMuted = false
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!isMuted) process.stderr.write(chunk)
      done()
    },
  })
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  lines.on('SIGINT', () => process.exit(exitCode.interrupted))
  const answer = lines.question(question)
  isMuted = isHidden
  try {
    return await answer
  } finally {
    lines.close()
    if (isHidden) process.stderr.write('\n')
  }
}

export async function firstLineOfStdin(): Promise<string> {
  const [line = ''] = await linesOfStdin()
  if (line === '') throw usageFailure('Standard input is empty')
  return line
}

export async function linesOfStdin(): Promise<string[]> {
  let text = ''
  for await (const chunk of process.stdin) text += chunk
  return text.split(/\r?\n/)
}
