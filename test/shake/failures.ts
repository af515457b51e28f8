import { stripVTControlCharacters } from 'node:util'

const failed = /^\s*✘ \[(?:fail|unexpected pass)\]: (.+)$/
const inFile = /^\s*(?:✘ )?((?:Uncaught exception|Unhandled rejection) in .+)$/
const ofFile = /^\s*✘ (.+ exited (?:due to|with a non-zero exit code).*|No tests found in .+)$/
const pending = /^\s*◌ (.+)$/
const withoutExit = /^\s*(Failed to exit when running .+)$/

/**
 * The failures in ava's output, each once: tests that failed or were running at a timeout, and errors that ended a file
 * outside its tests.
 */
export function failuresIn(output: string): string[] {
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .map(line => line.trimEnd())
  const known = new Set(lines.map(line => line.trim()))
  const found = lines.flatMap(line => {
    const label = failed.exec(line)?.[1]
    if (label !== undefined) return titleOf(label, known)
    const unfinished = pending.exec(line)?.[1]
    if (unfinished !== undefined) return `timed out: ${unfinished}`
    return (inFile.exec(line) ?? ofFile.exec(line) ?? withoutExit.exec(line))?.[1] ?? []
  })
  return [...new Set(found)]
}

/** Ava appends the message of the error to the title, but the title stands alone if it shows the whole error. */
function titleOf(label: string, known: ReadonlySet<string>): string {
  const words = label.split(' ')
  for (let count = words.length; count > 0; count--) {
    const title = words.slice(0, count).join(' ')
    if (known.has(title)) return title
  }
  return label
}
