import { Link } from '@tanstack/react-router'
import { More } from '../../design/more.tsx'
import { VersionTable } from '../../design/version-table.tsx'
import type { Pages } from '../../session/use-pages.ts'
import { bytesOf } from '../../words/amounts.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import type { Named, Version } from './paths.ts'
import { words } from './words.ts'

type Props = { of: Pages<Version>; dataset: Named; shown: number | undefined }

export function Versions({ of, dataset: { owner, name }, shown }: Props) {
  const say = useWords(words)
  const language = useLanguage()
  return (
    <VersionTable
      {...{ of, shown }}
      none={say.noVersions}
      link={(version, mark) => (
        <Link
          to="/datasets/$owner/$name"
          params={{ owner, name }}
          search={{ version: String(version) }}
          {...mark}
        />
      )}
      columns={[
        {
          key: 'rows',
          title: say.rows,
          isNumber: true,
          cell: one => one.rows?.toLocaleString(language),
        },
        {
          key: 'tokens',
          title: say.tokens,
          isNumber: true,
          cell: ({ tokens }) => Object.values(tokens)[0]?.toLocaleString(language),
        },
        { key: 'size', title: say.size, isNumber: true, cell: one => bytesOf(one.bytes) },
        {
          key: 'used',
          title: say.usedBy,
          cell: one => one.used_by_count > 0 && say.runs(one.used_by_count),
        },
      ]}
    >
      <More of={of} what={say.versions} />
    </VersionTable>
  )
}
