import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { State } from '../../design/state.tsx'
import { stateText } from '../../words/states.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import { words } from './words.ts'

type Props = {
  run: Pick<RunRow, 'state' | 'job_state' | 'silent_since'>
  /** The state of its job, if that is known more recently. */
  state?: string | undefined
}

/** The state of a run, and whether it has fallen silent in it. */
export function StateBadge({ run, state = run.job_state ?? run.state }: Props) {
  const say = useWords(words)
  const language = useLanguage()
  if (run.silent_since === null) return <State state={state} />
  return <State state="warning" text={say.silentIn(stateText(state, language))} />
}
