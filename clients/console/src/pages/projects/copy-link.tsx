import { useEffect, useState } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { Button } from '../../design/button.tsx'
import { useWords } from '../../words/words.ts'
import { numbersOf } from './shown.ts'
import { words } from './words.ts'

/** Copies the address of this picture: with the runs that are shown now, which later ones do not join. */
export function CopyLink({ shown }: { shown: readonly RunRow[] }) {
  const say = useWords(words)
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 2_000)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = () => {
    const address = new URL(location.href)
    if (!address.searchParams.has('group')) address.searchParams.set('runs', numbersOf(shown))
    void navigator.clipboard?.writeText(address.href).then(() => setCopied(true))
  }
  return (
    <Button onClick={copy}>
      <span aria-live="polite">{isCopied ? say.copied : say.copyLink}</span>
    </Button>
  )
}
