/** A job, and how it must end. */
export type Planned = {
  key: string
  nodes: number
  wait_s: number
  end: { exit_code: number | null; signal: string | null }
}

/** How a job ended, according to the API. */
export type Ended = Planned['end'] & {
  state: string
  why: string | null
  attempts: { end_reason: string | null; exit_code: number | null }[]
  lines: string[]
}

export type Fault = 'lost' | 'twice' | 'wrong'

/** `marks`: the ranks that started, as they noted it themselves. */
export function faultOf(
  { nodes, end }: Planned,
  ended: Ended | null,
  marks: readonly string[],
): Fault | null {
  const times = (line: string) => ended?.lines.filter(found => found === line).length ?? 0
  if (new Set(marks).size < marks.length || (ended?.attempts.length ?? 0) > 1) return 'twice'
  const last = String(nodes - 1)
  if (!ended || !marks.includes(last) || times('started') === 0) return 'lost'
  const succeeds = end.exit_code === 0
  const isTrue =
    ended.state === (succeeds ? 'succeeded' : 'failed') &&
    ended.exit_code === end.exit_code &&
    ended.signal === end.signal &&
    (!succeeds || marks.length === nodes)
  return isTrue && times('started') === 1 && times('ends') === 1 ? null : 'wrong'
}
