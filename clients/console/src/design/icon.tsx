import type { LucideIcon } from 'lucide-react/types'

type Props = {
  of: LucideIcon
  /** For screen readers; absent where the text next to it says the same. */
  name?: string
  size?: number
}

/** A picture, with the same size and line width everywhere. Import each separately: `lucide-react/icons/bell`. */
export const Icon = ({ of: Drawing, name, size = 16 }: Props) => (
  <>
    <Drawing size={size} strokeWidth={1.75} aria-hidden="true" focusable="false" />
    {name !== undefined && <span className="visually-hidden">{name}</span>}
  </>
)
