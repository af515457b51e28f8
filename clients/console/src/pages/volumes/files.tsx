import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { DownloadButton } from '../../design/download-button.tsx'
import layout from '../../design/layout.module.css'
import { Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { addressOf, reading } from '../../session/api.ts'
import { bytesOf } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Detail, type Entry, type Files as Page, pathOf } from './paths.ts'
import { words } from './words.ts'

/** More than this goes straight to the disk, in bytes. */
const largeBytes = 64 * 1024 * 1024

type Props = { of: Detail; inside: string; onOpen: (inside: string) => void }

/** A folder of a volume, page by page. */
export function Files({ of, inside, onOpen }: Props) {
  const say = useWords(words)
  const [after, setAfter] = useState('')
  const open = (next: string) => {
    setAfter('')
    onOpen(next)
  }
  const path = pathOf(of)
  const found = useQuery(
    reading<Page>(`${path}/files`, { path: inside, after: after || undefined, limit: 100 }),
  )
  return (
    <Panel title={say.files}>
      <Trail inside={inside} onOpen={open} />
      <Shown of={found}>
        {({ entries, next }) => (
          <>
            {entries.length === 0 ? (
              <p className={layout.soft}>{say.noFiles}</p>
            ) : (
              <Table<Entry>
                caption={say.files}
                rows={entries}
                keyOf={one => one.name}
                columns={columnsOf(say, { path, inside, onOpen: open })}
              />
            )}
            <div className={layout.row}>
              {after !== '' && <Button onClick={() => setAfter('')}>{say.firstPage}</Button>}
              {next !== null && <Button onClick={() => setAfter(next)}>{say.nextPage}</Button>}
            </div>
          </>
        )}
      </Shown>
    </Panel>
  )
}

function Trail({ inside, onOpen }: { inside: string; onOpen: (inside: string) => void }) {
  const say = useWords(words)
  if (inside === '') return null
  const parts = inside.split('/')
  return (
    <nav className={layout.row} aria-label={say.path}>
      <Button kind="quiet" onClick={() => onOpen('')}>
        {say.top}
      </Button>
      {parts.map((part, nth) => {
        const above = parts.slice(0, nth + 1).join('/')
        return nth === parts.length - 1 ? (
          <code key={above} className={styles.name} aria-current="location">
            {visible(part)}
          </code>
        ) : (
          <Button key={above} kind="quiet" onClick={() => onOpen(above)}>
            {visible(part)}
          </Button>
        )
      })}
    </nav>
  )
}

type In = { path: string; inside: string; onOpen: (inside: string) => void }

const columnsOf = (say: (typeof words)['en'], { path, inside, onOpen }: In): Column<Entry>[] => {
  const below = (name: string) => (inside === '' ? name : `${inside}/${name}`)
  return [
    {
      key: 'name',
      title: say.file,
      cell: ({ name, kind }) =>
        kind === 'folder' ? (
          <Button kind="quiet" onClick={() => onOpen(below(name))}>
            {visible(name)}/
          </Button>
        ) : (
          <code className={styles.name}>{visible(name)}</code>
        ),
    },
    {
      key: 'size',
      title: say.bytes,
      isNumber: true,
      cell: ({ kind, size_bytes }) => {
        if (kind === 'file') return bytesOf(size_bytes)
        return kind === 'folder' ? null : say[kind]
      },
    },
    { key: 'changed', title: say.changed, cell: one => <Ago at={one.modified_at} /> },
    {
      key: 'download',
      title: '',
      cell: ({ name, kind, size_bytes }) =>
        kind === 'file' && (
          <DownloadButton
            path={addressOf(`${path}/content`, { path: below(name) })}
            name={name}
            isQuiet
            isLarge={size_bytes > largeBytes}
          >
            {say.download}
            <span className="visually-hidden"> {visible(name)}</span>
          </DownloadButton>
        ),
    },
  ]
}
