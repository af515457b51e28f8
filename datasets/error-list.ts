import { maxErrorMessage, maxErrors } from './bounds.ts'
import type { LineError } from './report.ts'

/** Records the first errors and counts the others. */
export class ErrorList {
  readonly first: LineError[] = []
  count = 0

  /** `message` is only called for an error that is recorded. */
  add(file: string, line: number, message: string | (() => string)): void {
    this.count++
    if (this.first.length === maxErrors) return
    const words = typeof message === 'string' ? message : message()
    this.first.push({ file, line, message: cut(words) })
  }
}

/** Never between the halves of a character. */
const cut = (text: string) =>
  text.length <= maxErrorMessage
    ? text
    : `${text
        .slice(0, maxErrorMessage - 1)
        .toWellFormed()
        .replace(/\ufffd$/, '')}…`
