import { DownloadButton } from '../../design/download-button.tsx'
import { Id } from '../../design/id.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { bytesOf } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { pathOfFile, type VersionDetail } from './paths.ts'
import { words } from './words.ts'

/** More than this goes straight to the disk, in bytes. */
const largeBytes = 64 * 1024 * 1024

type Props = { of: VersionDetail; path: string; mayUse: boolean }
type File = VersionDetail['files'][number]

export function Files({ of: { files }, path, mayUse }: Props) {
  const say = useWords(words)
  const language = useLanguage()
  return (
    <Panel title={say.files}>
      <Table<File>
        caption={say.files}
        rows={files}
        keyOf={one => one.name}
        columns={[
          {
            key: 'file',
            title: say.file,
            cell: one => <code className={styles.name}>{visible(one.name)}</code>,
          },
          { key: 'split', title: say.split, cell: one => visible(one.split ?? '') },
          {
            key: 'rows',
            title: say.rows,
            isNumber: true,
            cell: one => one.rows?.toLocaleString(language),
          },
          { key: 'size', title: say.size, isNumber: true, cell: one => bytesOf(one.size_bytes) },
          { key: 'digest', title: 'SHA-256', cell: one => <Id id={one.sha256} /> },
          ...(mayUse
            ? [
                {
                  key: 'download',
                  title: '',
                  cell: (one: File) => (
                    <DownloadButton
                      path={pathOfFile(path, one.name)}
                      name={one.name.split('/').at(-1) ?? one.name}
                      isQuiet
                      isLarge={one.size_bytes > largeBytes}
                    >
                      {say.download}
                      <span className="visually-hidden"> {visible(one.name)}</span>
                    </DownloadButton>
                  ),
                },
              ]
            : []),
        ]}
      />
    </Panel>
  )
}
