import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import type { AlertGroup } from './alert-groups.ts'
import { words } from './words.ts'

/** One alert by its title; several of a kind by their number and last step. */
export function AlertText({ group }: { group: AlertGroup }) {
  const say = useWords(words)
  const { newest, count, lastStep } = group
  if (count === 1) return visible(newest.title)
  const isNotFinite = newest.key !== null && typeof newest.value === 'string'
  const kind = isNotFinite
    ? say.notFinite(String(newest.key))
    : newest.title.replace(/ at step \d+$/, '')
  const last = lastStep === null ? '' : `, ${say.lastAt(lastStep.toLocaleString())}`
  return `${visible(kind)} ×${count}${last}`
}
