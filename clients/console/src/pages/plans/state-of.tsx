import { Badge, type Tone } from '../../design/badge.tsx'
import { State } from '../../design/state.tsx'
import { useWords } from '../../words/words.ts'
import { words } from './words.ts'

const own = {
  draft: 'bad',
  ready: 'wait',
  submitted: 'active',
  blocked: 'bad',
  expired: 'soft',
} as const satisfies Record<string, Tone>

const isOwn = (state: string): state is keyof typeof own => Object.hasOwn(own, state)

/** Only these pages know some of the states. */
export function StateOf({ state }: { state: string }) {
  const say = useWords(words)
  if (!isOwn(state)) return <State state={state} />
  return (
    <Badge tone={own[state]} state={state}>
      {say[state]}
    </Badge>
  )
}
