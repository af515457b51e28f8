import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Empty, Loading, Shown } from '../../design/notice.tsx'
import { usePart } from '../../design/use-part.ts'
import { reading } from '../../session/api.ts'
import type { Me } from '../../session/session.ts'
import { NotFound } from '../../shell/wrong-turns.tsx'
import { useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { sections } from './sections.ts'
import { words } from './words.ts'

export function Page() {
  const say = useWords(words)
  const language = useLanguage()
  const { section = 'people' } = useParams({ strict: false })
  const me = useQuery(reading<Me>('/api/auth/me'))
  const known = sections.find(({ name }) => name === section)
  const Section = usePart(known?.load ?? null)?.Section ?? (known ? Loading : null)
  return (
    <Shown of={me}>
      {({ role }) =>
        role !== 'admin' ? (
          <>
            <h1>{say.title}</h1>
            <Empty text={say.onlyAdmins} />
          </>
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
            <div className={styles.section}>{Section ? <Section /> : <NotFound isPart />}</div>
          </div>
        )
      }
    </Shown>
  )
}
