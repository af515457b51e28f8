import type { Panel } from '../../../../schemas/workspace.ts'

/** The axes whose values of runs some panels show. */
export const axesOfPanels = (panels: readonly Panel[]): string[] => panels.flatMap(axesOfPanel)

function axesOfPanel(panel: Panel): string[] {
  if (panel.kind === 'bar') return [panel.metric]
  if (panel.kind !== 'scatter' && panel.kind !== 'parallel') return []
  const colour = panel.colour === undefined ? [] : [panel.colour]
  return panel.kind === 'scatter' ? [panel.x, panel.y, ...colour] : [...panel.axes, ...colour]
}
