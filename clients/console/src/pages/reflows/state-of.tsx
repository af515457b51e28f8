import { Badge } from '../../design/badge.tsx'
import { State } from '../../design/state.tsx'
import { useWords } from '../../words/words.ts'
import { words } from './words.ts'

/** Only these pages know the first two states. */
export function StateOf({ state }: { state: string }) {
  const say = useWords(words)
  if (state === 'idle' || state === 'empty') return <Badge state={state}>{say[state]}</Badge>
  return <State state={state} />
}
