/** New rows wait for who has scrolled; at the top they come by themselves. */
export function Resume({ waiting }: { waiting: number }) {
  return (
    <button
      type="button"
      data-show-new
      className="button button-primary fixed top-2 left-1/2 z-20 -translate-x-1/2 shadow"
      onClick={() => scrollTo({ top: 0 })}
    >
      Paused · {waiting} new · Resume
    </button>
  );
}
