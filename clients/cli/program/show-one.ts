import { toJson } from '../terminal/harmless.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type ExitCode, exitCode } from './failure.ts'
import type { Session } from './session.ts'

export type Fact = readonly [title: string, text: string]

/** Prints a line for each fact, with its title in `width` columns. */
export function showFacts(terminal: Terminal, facts: readonly Fact[], width: number): void {
  for (const [title, text] of facts)
    terminal.data(`${terminal.paint('dim', title.padEnd(width))} ${text}`)
}

type Shown<T> = {
  facts: (record: T) => readonly Fact[]
  width: number
  /** Prints what follows the facts. */
  more?: (record: T) => unknown
}

/** Prints a record as JSON, or its facts. */
export function showOne<T extends object>(
  { terminal, isJson }: Session,
  record: T,
  { facts, width, more }: Shown<T>,
): ExitCode {
  if (isJson) terminal.data(toJson(record))
  else {
    showFacts(terminal, facts(record), width)
    more?.(record)
  }
  return exitCode.ok
}
