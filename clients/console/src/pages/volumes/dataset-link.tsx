import { Link } from '@tanstack/react-router'
import { parseDatasetReference } from '../../../../../schemas/datasets/reference.ts'

/** A version of a dataset, with its page once it is there. */
export function DatasetLink({ named, isThere }: { named: string; isThere: boolean }) {
  const found = isThere ? parseDatasetReference(named) : null
  if (!found) return named
  const { owner, name, version } = found
  return (
    <Link
      to="/datasets/$owner/$name"
      params={{ owner, name }}
      search={{ version: String(version ?? 1) }}
    >
      {named}
    </Link>
  )
}
