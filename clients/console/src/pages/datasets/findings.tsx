import { Figure, Figures } from '../../design/number.tsx'
import { Table } from '../../design/table.tsx'
import { bytesOf } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import { Histogram } from './histogram.tsx'
import styles from './page.module.css'
import type { VersionDetail } from './paths.ts'
import { words } from './words.ts'

/** What the validation found: figures, lengths and fields. */
export function Findings({ of }: { of: VersionDetail }) {
  const say = useWords(words)
  const language = useLanguage()
  const shown = (n: number) => n.toLocaleString(language)
  const { rows, bytes, tokens, splits, duplicates, overlap, lengths } = of
  const about = of.estimated ? say.estimated : undefined
  const fields = Object.entries(of.schema)
  const splitRows = Object.entries(splits)
  return (
    <>
      <Figures>
        {rows !== null && <Figure name={say.rows} value={shown(rows)} />}
        {splitRows.length > 1 &&
          splitRows.map(([split, { rows: its }]) => (
            <Figure key={split} name={say.inSplit(visible(split))} value={shown(its)} />
          ))}
        {duplicates !== null && (
          <Figure name={say.duplicates} value={shown(duplicates)} hint={about} />
        )}
        {overlap.map(({ splits: [one, other], rows: both }) => (
          <Figure
            key={`${one} ${other}`}
            name={say.overlap(visible(one), visible(other))}
            value={shown(both)}
            hint={about}
          />
        ))}
        {Object.entries(tokens).map(([name, count]) => (
          <Figure key={name} name={say.tokensBy(visible(name))} value={shown(count)} />
        ))}
        <Figure name={say.size} value={bytesOf(bytes)} />
        {of.kind !== null && <Figure name={say.kind} value={say[of.kind]} />}
      </Figures>
      <div className={styles.columns}>
        {lengths !== null && lengths.buckets.length > 0 && <Histogram of={lengths} />}
        {fields.length > 0 && (
          <div className={styles.part}>
            <h3>{say.fields}</h3>
            <Table
              caption={say.fields}
              rows={fields}
              keyOf={([name]) => name}
              columns={[
                { key: 'field', title: say.field, cell: ([name]) => <code>{visible(name)}</code> },
                { key: 'type', title: say.type, cell: ([, type]) => visible(type) },
              ]}
            />
          </div>
        )}
      </div>
    </>
  )
}
