import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { Button } from '../../design/button.tsx'
import { useCopied } from '../../design/use-copied.ts'
import { useWords } from '../../words/words.ts'
import { numbersOf } from './shown.ts'
import { words } from './words.ts'

/** Copies the address of this picture: with the runs that are shown now, which later ones do not join. */
export function CopyLink({ shown }: { shown: readonly RunRow[] }) {
  const say = useWords(words)
  const { isCopied, copy } = useCopied()
  const copyAddress = () => {
    const address = new URL(location.href)
    if (!address.searchParams.has('group')) address.searchParams.set('runs', numbersOf(shown))
    copy(address.href)
  }
  return (
    <Button onClick={copyAddress}>
      <span aria-live="polite">{isCopied ? say.copied : say.copyLink}</span>
    </Button>
  )
}
