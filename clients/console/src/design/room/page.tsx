import { Panel } from '../panel.tsx'
import { Tabs } from '../tabs.tsx'
import { Controls } from './controls.tsx'
import { Foundations } from './foundations.tsx'
import styles from './page.module.css'
import { Situations } from './situations.tsx'
import { Values } from './values.tsx'

const parts = [
  { id: 'foundations', title: 'Foundations', content: <Foundations /> },
  { id: 'controls', title: 'Controls', content: <Controls /> },
  { id: 'values', title: 'Values', content: <Values /> },
  { id: 'situations', title: 'Situations', content: <Situations /> },
]

/** Every part in every state, to look at while one is changed. It is served in development alone, in English. */
export const Page = () => (
  <div className={styles.page}>
    <h1>Design</h1>
    <Tabs label="Parts">
      {parts.map(({ id, title }, nth) => (
        <a key={id} href={`#${id}`} aria-current={nth === 0 ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </Tabs>
    {parts.map(({ id, title, content }) => (
      <div key={id} id={id}>
        <Panel title={title}>{content}</Panel>
      </div>
    ))}
  </div>
)
