import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { Empty, Loading, Shown } from '../../design/notice.tsx'
import { reading } from '../../session/api.ts'
import type { Me } from '../../session/session.ts'
import { NotFound } from '../../shell/wrong-turns.tsx'
import { useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { sections } from './sections.ts'
import { words } from './words.ts'

const loaded = new Map(
  sections.map(({ name, load }) => [name, lazy(async () => ({ default: (await load()).Section }))]),
)

export function Page() {
  const say = useWords(words)
  const language = useLanguage()
  const { section = 'people' } = useParams({ strict: false })
  const me = useQuery(reading<Me>('/api/auth/me'))
  const Section = loaded.get(section)
  return (
    <Shown of={me}>
      {({ role }) =>
        role !== 'admin' ? (
          <Empty text={say.onlyAdmins} />
        ) : (
          <div className={styles.page}>
            <h1>{say.title}</h1>
            <nav className={styles.nav} aria-label={say.title}>
              {sections.map(({ name, title }) => (
                <Link
                  key={name}
                  to="/admin/$section"
                  params={{ section: name }}
                  aria-current={name === section ? 'page' : undefined}
                >
                  {title[language === 'zh' ? 1 : 0]}
                </Link>
              ))}
            </nav>
            <div className={styles.section}>
              <Suspense fallback={<Loading />}>
                {Section ? <Section /> : <NotFound isPart />}
              </Suspense>
            </div>
          </div>
        )
      }
    </Shown>
  )
}
