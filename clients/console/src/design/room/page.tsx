import { Panel } from '../panel.tsx'
import { Tabs } from '../tabs.tsx'
import { Controls } from './controls.tsx'
import { Foundations } from './foundations.tsx'
import styles from './page.module.css'
import { Situations } from './situations.tsx'
import { Values } from './values.tsx'

/** Every part in every state, to look at while one is changed. It is served in development alone, in English. */
export const Page = () => (
  <div className={styles.page}>
    <h1>Design</h1>
    <Tabs label="Parts">
      <a href="#foundations" aria-current="page">
        Foundations
      </a>
      <a href="#controls">Controls</a>
      <a href="#values">Values</a>
      <a href="#situations">Situations</a>
    </Tabs>
    <div id="foundations">
      <Panel title="Foundations">
        <Foundations />
      </Panel>
    </div>
    <div id="controls">
      <Panel title="Controls">
        <Controls />
      </Panel>
    </div>
    <div id="values">
      <Panel title="Values">
        <Values />
      </Panel>
    </div>
    <div id="situations">
      <Panel title="Situations">
        <Situations />
      </Panel>
    </div>
  </div>
)
