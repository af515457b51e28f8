import { visible } from '../words/visible.ts'

/** What a plugin changed in a job; `data` is that of its gate. */
export function SpecChanges({ data }: { data: unknown }) {
  const changes = changesIn(data)
  if (changes.length === 0) return null
  return (
    <ul>
      {changes.map(({ path, from, to }) => (
        <li key={path}>
          <code>{visible(path)}</code> <del>{textOf(from)}</del> → <ins>{textOf(to)}</ins>
        </li>
      ))}
    </ul>
  )
}

type Change = { path: string; from: unknown; to: unknown }

export const changesIn = (data: unknown): readonly Change[] =>
  typeof data === 'object' && data !== null && 'changes' in data && Array.isArray(data.changes)
    ? data.changes
    : []

const textOf = (value: unknown): string => (value === null ? '–' : visible(JSON.stringify(value)))
