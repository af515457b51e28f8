/** The name of a project's own view, with which its page opens; only maintainers save it. */
export const defaultView = 'default'
