/** Lifts a run everywhere while the mouse is over what stands for it here. */
export const hovering = (runId: string, onHover: (runId: string | null) => void) => ({
  onMouseEnter: () => onHover(runId),
  onMouseLeave: () => onHover(null),
})
