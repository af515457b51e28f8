import { readFile } from 'node:fs/promises'
import { durations } from './order.ts'

/** The results of one run of ava. */
export type Counts = { passed: number; failed: number; failures: string[] }

/** Reads the lines of tests, and ava's closing lines. If a test fails, ava does not report how many passed. */
export function countsOf(output: string): Counts {
  const failures = [...output.matchAll(/^ *✘ (?:\[fail\]: )?(.*?)(?: \([\d.ms ]+\))?$/gm)].map(
    ([, title = '']) => title,
  )
  const number = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? 0)
  const others =
    number(/^ +(\d+) uncaught exceptions?$/m) + number(/^ +(\d+) unhandled rejections?$/m)
  return {
    passed: output.match(/^ *✔ /gm)?.length ?? 0,
    failed: number(/^ +(\d+) tests? failed$/m) + others,
    failures: [...new Set(failures)],
  }
}

export type Duration = { file: string; seconds: number }

/** How long each file took, the longest first. */
export async function durationsIn(path: string): Promise<Duration[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const lines = text.split('\n').filter(Boolean)
  return lines
    .map(line => {
      const [file = '', seconds] = line.split('\t')
      return { file, seconds: Number(seconds) }
    })
    .sort((one, other) => other.seconds - one.seconds)
}

export type Summary = Counts & {
  minutes: number
  slowest: readonly Duration[]
  /** The tests that did not run, and why. */
  notes: readonly string[]
}

/** The result of `npm run audit`, which `.ci/run` passes on. */
export const auditNotes = ({ FORGE_TEST_AUDIT: said = '' }: NodeJS.ProcessEnv): string[] =>
  said.split('\n').filter(Boolean)

const listed = 10

export function summarize({ passed, failed, failures, minutes, slowest, notes }: Summary): string {
  const rows = slowest
    .slice(0, listed)
    .map(
      ({ file, seconds }) =>
        `  ${seconds.toFixed(1).padStart(6)} s  ${file}${slower(file, seconds)}`,
    )
  return [
    '',
    ...(rows.length > 0 ? ['The slowest files:', ...rows, ''] : []),
    ...(failures.length > 0 ? ['Failed:', ...failures.map(title => `  ${title}`), ''] : []),
    ...notes,
    `${minutes.toFixed(1)} minutes`,
    `${passed} passed, ${failed} failed`,
    '',
  ].join('\n')
}

/** Suspiciously slow: far longer than when the durations were recorded. */
function slower(file: string, seconds: number): string {
  const usual = durations[file]
  return usual !== undefined && seconds > 2 * usual + 10 ? ` (recorded: ${usual} s)` : ''
}
