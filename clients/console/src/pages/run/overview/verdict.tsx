import type { Diagnosis } from '../../../../../../schemas/diagnoses.ts'
import { Badge } from '../../../design/badge.tsx'
import { blameText, categoryText } from '../../../words/failures.ts'
import { useLanguage, useWords } from '../../../words/words.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

/** What a diagnosis found. */
export function Verdict({ diagnosis }: { diagnosis: Diagnosis }) {
  const say = useWords(words)
  const language = useLanguage()
  const { category, confidence, blame, root_cause, similar } = diagnosis
  const evidence = diagnosis.evidence ?? []
  const suggestions = diagnosis.suggestions ?? []
  return (
    <>
      <p className={styles.marks}>
        {category && <Badge tone="bad">{categoryText(category, language)}</Badge>}
        {blame && <Badge>{`${say.blame}: ${blameText(blame, language)}`}</Badge>}
        {confidence !== null && (
          <span className={styles.soft}>{say.confidence(`${Math.round(confidence * 100)} %`)}</span>
        )}
        {similar && similar.count_30d > 0 && (
          <span className={styles.soft}>{say.similar(similar.count_30d)}</span>
        )}
      </p>
      {root_cause && <p>{root_cause}</p>}
      {suggestions.length > 0 && (
        <>
          <h3>{say.suggestions}</h3>
          <ul className={styles.bullets}>
            {suggestions.map(({ title }) => (
              <li key={title}>{title}</li>
            ))}
          </ul>
        </>
      )}
      {evidence.length > 0 && (
        <details>
          <summary>{say.evidence}</summary>
          {evidence.map(({ excerpt }) => (
            <pre key={excerpt} className={styles.words}>
              {excerpt}
            </pre>
          ))}
        </details>
      )}
    </>
  )
}
