import { Link, useParams } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { Loading, Shown } from '../../design/notice.tsx'
import { useLanguage } from '../../words/words.ts'
import styles from './page.module.css'
import { tabs } from './tabs.ts'
import { type RunRecord, useRun } from './use-run.ts'

const loaded = new Map(
  tabs.map(({ name, load }) => [name, lazy(async () => ({ default: (await load()).Tab }))]),
)

export function Page() {
  const { run_id = '', tab = 'overview' } = useParams({ strict: false })
  const run = useRun(run_id)
  return <Shown of={run}>{record => <Run run={record} tab={tab} />}</Shown>
}

function Run({ run, tab }: { run: RunRecord; tab: string }) {
  const language = useLanguage()
  const Content = loaded.get(tab)
  return (
    <div className={styles.page}>
      <h1>{run.name ?? run.short_id}</h1>
      <nav className={styles.tabs} aria-label={run.short_id}>
        {tabs.map(({ name, title }) => (
          <Link
            key={name}
            to="/runs/$run_id/$tab"
            params={{ run_id: run.short_id, tab: name }}
            aria-current={name === tab ? 'page' : undefined}
          >
            {title[language === 'zh' ? 1 : 0]}
          </Link>
        ))}
      </nav>
      <Suspense fallback={<Loading />}>{Content && <Content run={run} />}</Suspense>
    </div>
  )
}
