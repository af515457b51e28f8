import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Select } from '../../design/field.tsx'
import layout from '../../design/layout.module.css'
import { More } from '../../design/more.tsx'
import { Empty } from '../../design/notice.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { SearchForm } from '../../design/search-form.tsx'
import { State } from '../../design/state.tsx'
import type { Column } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { usePart } from '../../design/use-part.ts'
import { reading } from '../../session/api.ts'
import type { Me } from '../../session/session.ts'
import { usePages } from '../../session/use-pages.ts'
import { bytesOf } from '../../words/amounts.ts'
import { type Language, useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { Dataset } from './paths.ts'
import { words } from './words.ts'

const loadUpload = () => import('./upload-dialog.tsx')

/** The datasets that one may see. */
export function Page() {
  const say = useWords(words)
  const language = useLanguage()
  const { q = '', owner = '' } = useSearch({ strict: false })
  const [isUploading, setUploading] = useState(false)
  const upload = usePart(isUploading ? loadUpload : null)
  const me = useQuery(reading<Me>('/api/auth/me'))
  const found = usePages<Dataset>('/api/datasets', {
    query: { q, owner },
    size: 100,
    keyOf: one => one.dataset,
    isUnderWay: ({ newest }) => newest?.state === 'validating',
  })
  const isFiltered = q !== '' || owner !== ''
  return (
    <div className={layout.sheet}>
      <header className={layout.head}>
        <h1>{say.title}</h1>
        <Button kind="main" onClick={() => setUploading(true)}>
          {say.upload}
        </Button>
      </header>
      <Controls {...{ q, owner }} me={me.data?.username ?? ''} shown={found.data ?? []} />
      <QueryTable
        of={found}
        none={
          isFiltered ? (
            <Empty text={say.noneFound} />
          ) : (
            <Empty text={say.none} command="forge dataset push my-data train.jsonl" />
          )
        }
        caption={say.title}
        keyOf={one => one.dataset}
        columns={columnsOf(say, language)}
      />
      <More of={found} />
      {upload && me.data && (
        <upload.UploadDialog owner={me.data.username} onClose={() => setUploading(false)} />
      )}
    </div>
  )
}

type ControlsProps = { q: string; owner: string; me: string; shown: readonly Dataset[] }

function Controls({ q, owner, me, shown }: ControlsProps) {
  const say = useWords(words)
  const navigate = useNavigate()
  const go = (change: Readonly<Record<string, string | undefined>>) =>
    void navigate({ to: '/datasets', search: old => ({ ...old, ...change }), replace: true })
  const others = new Set([owner, ...shown.map(one => one.owner)])
  const names = [...others].filter(name => name !== '' && name !== me).sort()
  return (
    <SearchForm label={say.search} q={q} onSearch={next => go({ q: next })}>
      <Select
        label={say.owner}
        value={owner}
        choices={[
          { value: '', text: say.everybody },
          ...(me === '' ? [] : [{ value: me, text: say.mine }]),
          ...names.map(value => ({ value, text: value })),
        ]}
        onChange={next => go({ owner: next || undefined })}
      />
    </SearchForm>
  )
}

const columnsOf = (say: (typeof words)['en'], language: Language): Column<Dataset>[] => [
  {
    key: 'name',
    title: say.dataset,
    cell: ({ owner, name, newest }) => (
      <Link to="/datasets/$owner/$name" params={{ owner, name }} className={styles.name}>
        {newest?.ref ?? `${owner}/${name}`}
      </Link>
    ),
  },
  {
    key: 'state',
    title: say.state,
    cell: ({ newest }) => newest && <State state={newest.state} />,
  },
  {
    key: 'rows',
    title: say.rows,
    isNumber: true,
    cell: ({ newest }) => newest?.rows?.toLocaleString(language),
  },
  {
    key: 'size',
    title: say.size,
    isNumber: true,
    cell: ({ newest }) => newest && bytesOf(newest.bytes),
  },
  { key: 'kind', title: say.kind, cell: ({ newest }) => newest?.kind && say[newest.kind] },
  { key: 'visibility', title: say.visibility, cell: one => say[one.visibility] },
  {
    key: 'used',
    title: say.usedBy,
    cell: ({ newest }) => newest && newest.used_by_count > 0 && say.runs(newest.used_by_count),
  },
  { key: 'updated', title: say.updated, cell: one => <Ago at={one.updated_at} /> },
]
