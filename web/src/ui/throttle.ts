/** Runs at once, then at most once per `ms`, and once more at the end if it was asked in between. */
export function throttle(ms: number, run: () => void): { (): void; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let again = false;
  const call = () => {
    if (timer !== undefined) {
      again = true;
      return;
    }
    run();
    timer = setTimeout(() => {
      timer = undefined;
      if (again) {
        again = false;
        call();
      }
    }, ms);
  };
  call.cancel = () => {
    clearTimeout(timer);
    timer = undefined;
    again = false;
  };
  return call;
}
