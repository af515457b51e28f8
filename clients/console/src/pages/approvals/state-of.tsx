import { Badge, type Tone } from '../../design/badge.tsx'
import { useWords } from '../../words/words.ts'
import type { Row } from './paths.ts'
import { words } from './words.ts'

const tones: Readonly<Record<Row['state'], Tone>> = {
  pending: 'wait',
  approved: 'good',
  rejected: 'bad',
  expired: 'soft',
  voided: 'soft',
}

export function StateOf({ state }: Pick<Row, 'state'>) {
  const say = useWords(words)
  return (
    <Badge tone={tones[state]} state={state}>
      {say[state]}
    </Badge>
  )
}
