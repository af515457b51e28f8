import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button, mainLink } from '../../design/button.tsx'
import layout from '../../design/layout.module.css'
import { Markdown } from '../../design/markdown.tsx'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { usePart } from '../../design/use-part.ts'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import { AgreementPanel } from './agreement.tsx'
import styles from './page.module.css'
import { type Detail, pathOf } from './paths.ts'
import { ShownQueue } from './shown-queue.tsx'
import { words } from './words.ts'

/** A queue with its progress, and how well people agree. */
export const Page = () => <ShownQueue>{queue => <Found queue={queue} />}</ShownQueue>

function Found({ queue }: { queue: Detail }) {
  const say = useWords(words)
  const language = useLanguage()
  const { items, completed, instructions, people } = queue
  const done = say.completedOf(completed.toLocaleString(language), items.toLocaleString(language))
  return (
    <div className={layout.sheet}>
      <Head queue={queue} />
      <Facts queue={queue} />
      <label>
        {done}
        <progress className={styles.progress} value={completed} max={items} />
      </label>
      {instructions !== '' && (
        <Panel title={say.instructions}>
          <Markdown text={instructions} />
        </Panel>
      )}
      <AgreementPanel queue={queue} />
      <Panel title={say.people}>
        {people.length === 0 ? (
          <p className={layout.soft}>{say.nobody}</p>
        ) : (
          <Table
            caption={say.people}
            keyOf={one => one.username}
            rows={people}
            columns={[
              { key: 'person', title: say.person, cell: one => one.username },
              { key: 'answers', title: say.answers, isNumber: true, cell: one => one.answers },
              { key: 'skips', title: say.skips, isNumber: true, cell: one => one.skips },
            ]}
          />
        )}
      </Panel>
    </div>
  )
}

const loadExport = () => import('./export-dialog.tsx')

function Head({ queue }: { queue: Detail }) {
  const say = useWords(words)
  const [isExporting, setExporting] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const dialog = usePart(isExporting ? loadExport : null)
  const { queue_id, name, state, may, kind } = queue
  const turn = async () => {
    try {
      await request('POST', `${pathOf(queue_id)}/${state === 'open' ? 'close' : 'reopen'}`)
      setError(null)
      await reread('/api/annotations')
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <>
      <header className={layout.head}>
        <h1 className={styles.name}>{visible(name)}</h1>
        <div className={layout.row}>
          {may === 'manage' && (
            <>
              <Button onClick={() => void turn()}>
                {state === 'open' ? say.close : say.reopen}
              </Button>
              <Button onClick={() => setExporting(true)}>{say.export}</Button>
            </>
          )}
          {may === 'read' || state === 'closed' ? (
            <Button kind="main" unless={may === 'read' ? say.mayNot : say.closed}>
              {say.annotate}
            </Button>
          ) : (
            <Link to="/annotations/$queue_id/work" params={{ queue_id }} className={mainLink}>
              {say.annotate}
            </Link>
          )}
        </div>
      </header>
      <Failure error={error} />
      {isExporting && dialog && (
        <dialog.ExportDialog {...{ queue_id, kind }} onClose={() => setExporting(false)} />
      )}
    </>
  )
}

function Facts({ queue }: { queue: Detail }) {
  const say = useWords(words)
  const { project, kind, state, overlap, source, owner, exports, rubric } = queue
  return (
    <p className={layout.facts}>
      <span>
        {say.project}:{' '}
        <Link to="/projects/$name" params={{ name: project }}>
          {project}
        </Link>
      </span>
      <span>
        {say.kind}: {say[kind]}
        {rubric !== null && ` (${rubric.ref})`}
      </span>
      <span>
        {say.state}: {say[state]}
      </span>
      <span>{say.overlap(overlap)}</span>
      <span>
        {say.source}:{' '}
        {source.run_id === null ? (
          `${source.ref} ${source.split ?? ''}`
        ) : (
          <Link
            to="/runs/$run_id/$tab"
            params={{ run_id: source.run_id, tab: 'samples' }}
            search={source.step === null ? {} : { step: String(source.step) }}
          >
            {say.samplesOf}
          </Link>
        )}
      </span>
      <span>
        {say.owner}: {owner}
      </span>
      {exports.map(({ ref }) => {
        const [named = '', version = ''] = ref.split('@')
        const [of = '', name = ''] = named.split('/')
        return (
          <span key={ref}>
            {say.exported}:{' '}
            <Link to="/datasets/$owner/$name" params={{ owner: of, name }} search={{ version }}>
              {ref}
            </Link>
          </span>
        )
      })}
    </p>
  )
}
