import styles from './page.module.css'

const colours = [
  ...['text', 'soft', 'ground', 'panel', 'raised', 'line', 'line-strong'],
  ...['accent', 'accent-faint', 'good', 'good-faint', 'warn', 'warn-faint'],
  ...['bad', 'bad-faint', 'wait', 'wait-faint'],
]
const curves = Array.from({ length: 20 }, (_, nth) => `curve-${nth + 1}`)

const sizes = [
  ['figure', styles.figure],
  ['title', styles.title],
  ['large', styles.large],
  ['text', undefined],
  ['small', styles.small],
] as const

/** Type and colours. */
export const Foundations = () => (
  <div className={styles.stack}>
    <h3>Type: five sizes, two weights, tabular figures</h3>
    <div className={styles.sizes}>
      {sizes.map(([name, className]) => (
        <p key={name} className={className}>
          {name}: validation loss 0.1111 → 0.8888 <strong>strong</strong> 损失 обучение
        </p>
      ))}
    </div>
    <h3>Colours</h3>
    <Swatches names={colours} />
    <h3>Curves</h3>
    <Swatches names={curves} />
  </div>
)

const Swatches = ({ names }: { names: readonly string[] }) => (
  <ul className={styles.swatches}>
    {names.map(name => (
      <li
        key={name}
        className={styles.swatch}
        ref={element => element?.style.setProperty('--shown', `var(--${name})`)}
      >
        {name}
      </li>
    ))}
  </ul>
)
