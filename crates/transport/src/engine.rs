//! The network's thread: it dials, admits and serves, on one single-threaded runtime, and sleeps
//! when nothing happens.

use std::future::Future;
use std::sync::Arc;
use std::sync::mpsc as blocking;
use std::thread::JoinHandle;
use std::time::Duration;

use consort_protocol::Frame;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::connection::{Carrier, DialError, Refusal};
use crate::exchange::Exchange;
use crate::framing::now;
use crate::link::{HANDSHAKE, serve};
use crate::settings::TransportError;
use crate::{Event, LinkStatistics, Transport};

/// Strangers and neighbours that may be proving their keys at the same time.
const KNOCKING: usize = 16;
/// How long the frames of a link that the driver ends may take to leave.
const FAREWELL: Duration = Duration::from_secs(1);
/// Pauses between attempts to dial: doubling from the first to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LAST_PAUSE: Duration = Duration::from_secs(2);
/// How long giving ports back may take.
const CLOSING: Duration = Duration::from_secs(2);

/// A running transport of any kind. Dropped without `close`, it ends its links at once.
pub(crate) struct Engine {
    exchange: Arc<Exchange>,
    closing: Option<oneshot::Sender<Duration>>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    /// Starts the thread named `name`; `open` runs on it and opens the door.
    /// Returns what else it gives, such as the address.
    pub(crate) fn start<C, T, F>(
        name: &str,
        exchange: Exchange,
        open: F,
    ) -> Result<(Self, T), TransportError>
    where
        C: Carrier,
        T: Send + 'static,
        F: Future<Output = Result<(C, T), TransportError>> + Send + 'static,
    {
        let exchange = Arc::new(exchange);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (closing, close) = oneshot::channel();
        let (opened, opening) = blocking::channel();
        let shared = exchange.clone();
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            runtime.block_on(async move {
                match open.await {
                    Ok((carrier, told)) => {
                        let _ = opened.send(Ok(told));
                        live(Arc::new(carrier), shared, close).await;
                    }
                    Err(error) => drop(opened.send(Err(error))),
                }
            });
            // Look-ups of names may hang in threads of their own; nobody waits for them.
            runtime.shutdown_background();
        })?;
        let told = opening.recv().map_err(std::io::Error::other)??;
        Ok((Engine { exchange, closing: Some(closing), thread: Some(thread) }, told))
    }

    fn stop(&mut self, patience: Duration) {
        if let Some(closing) = self.closing.take() {
            let _ = closing.send(patience);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Transport for Engine {
    fn has_room(&self, peer: usize) -> bool {
        self.exchange.desk_of(peer).is_some_and(|desk| desk.has_room())
    }

    fn send(&mut self, peer: usize, frame: Frame) -> bool {
        self.exchange.desk_of(peer).is_some_and(|desk| desk.send(frame))
    }

    fn wait(&mut self, patience: Duration) -> Option<Event> {
        self.exchange.wait(patience)
    }

    fn disconnect(&mut self, peer: usize, reason: &str) {
        if let Some(desk) = self.exchange.desk_of(peer) {
            desk.disconnect(self.exchange.inbox(), reason, FAREWELL);
        }
    }

    fn statistics(&self, peer: usize) -> LinkStatistics {
        self.exchange.desk_of(peer).map(|desk| desk.statistics()).unwrap_or_default()
    }

    fn close(&mut self, patience: Duration) {
        self.stop(patience);
    }
}

/// Makes a type with a field `engine` a transport.
macro_rules! transport_by_engine {
    ($transport:ty) => {
        impl Transport for $transport {
            fn has_room(&self, peer: usize) -> bool {
                self.engine.has_room(peer)
            }

            fn send(&mut self, peer: usize, frame: Frame) -> bool {
                self.engine.send(peer, frame)
            }

            fn wait(&mut self, patience: Duration) -> Option<Event> {
                self.engine.wait(patience)
            }

            fn disconnect(&mut self, peer: usize, reason: &str) {
                self.engine.disconnect(peer, reason);
            }

            fn statistics(&self, peer: usize) -> LinkStatistics {
                self.engine.statistics(peer)
            }

            fn close(&mut self, patience: Duration) {
                self.engine.close(patience);
            }
        }
    };
}
pub(crate) use transport_by_engine;

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}

/// Dials and admits until the driver closes, then ends all links.
async fn live<C: Carrier>(
    carrier: Arc<C>,
    exchange: Arc<Exchange>,
    close: oneshot::Receiver<Duration>,
) {
    let mut tasks = JoinSet::new();
    for slot in 0..exchange.desks().len() {
        tasks.spawn(keep_dialling(carrier.clone(), exchange.clone(), slot));
    }
    tasks.spawn(keep_admitting(carrier.clone(), exchange.clone()));

    let patience = close.await.unwrap_or_default();
    exchange.begin_closing(patience);
    let _ = timeout(patience, async { while tasks.join_next().await.is_some() {} }).await;
    tasks.shutdown().await;
    let _ = timeout(CLOSING, carrier.close()).await;
}

/// Dials the neighbour in `slot` whenever there is no link to it.
async fn keep_dialling<C: Carrier>(carrier: Arc<C>, exchange: Arc<Exchange>, slot: usize) {
    let desk = exchange.desk(slot);
    let mut pause = Pause::new(exchange.own(), desk.peer());
    loop {
        let dial = async {
            sleep(pause.next()).await;
            let begun = now();
            desk.until_free().await;
            if begun.elapsed() > 2 * LAST_PAUSE {
                pause.reset();
            }
            timeout(HANDSHAKE, carrier.dial(slot)).await
        };
        let dialled = tokio::select! {
            () = exchange.closing() => return,
            dialled = dial => dialled,
        };
        match dialled {
            Ok(Ok(connection)) => {
                let (begun, grip) = (now(), connection.grip.clone());
                if let Err(error) = serve(&exchange, slot, connection, None).await
                    && let Some(reason) = grip.refusal(&error)
                {
                    exchange.refused(Refusal { who: format!("agent {}", desk.peer()), reason });
                }
                if begun.elapsed() > 2 * LAST_PAUSE {
                    pause.reset();
                }
            }
            Ok(Err(DialError::Refused(refusal))) => exchange.refused(refusal),
            Ok(Err(DialError::Nobody)) | Err(_) => {}
        }
    }
}

/// Admits neighbours, a few at a time, and serves the links they make.
async fn keep_admitting<C: Carrier>(carrier: Arc<C>, exchange: Arc<Exchange>) {
    let knocking = Arc::new(Semaphore::new(KNOCKING));
    let mut links = JoinSet::new();
    loop {
        let next = async {
            let permit = knocking.clone().acquire_owned().await.ok()?;
            Some((permit, carrier.knock().await?))
        };
        let next = tokio::select! {
            () = exchange.closing() => break,
            next = next => next,
        };
        let Some((permit, knock)) = next else { break };
        while links.try_join_next().is_some() {}
        links.spawn(admit(carrier.clone(), exchange.clone(), permit, knock));
    }
    while links.join_next().await.is_some() {}
}

async fn admit<C: Carrier>(
    carrier: Arc<C>,
    exchange: Arc<Exchange>,
    permit: OwnedSemaphorePermit,
    knock: C::Knock,
) {
    let who = C::describe(&knock);
    match timeout(HANDSHAKE, carrier.admit(knock)).await {
        // A neighbour whose connection breaks here will dial again; there is nothing to tell.
        Ok(Ok((slot, connection))) => {
            let _ = serve(&exchange, slot, connection, Some(permit)).await;
        }
        Ok(Err(refusal)) => exchange.refused(refusal),
        Err(_) => {
            let reason = format!("it proved no key within {} s", HANDSHAKE.as_secs());
            exchange.refused(Refusal { who, reason });
        }
    }
}

/// Pauses between attempts: doubling, and different for every pair of agents so that a run's
/// agents do not dial in step.
struct Pause {
    next: Duration,
    jitter: f64,
}

impl Pause {
    fn new(own: usize, peer: usize) -> Self {
        // The fractional parts of multiples of the golden ratio are spread evenly.
        let jitter = ((own as f64 * 131.0 + peer as f64) * 0.618_033_988_75).fract();
        Pause { next: Duration::ZERO, jitter }
    }

    fn reset(&mut self) {
        self.next = Duration::ZERO;
    }

    fn next(&mut self) -> Duration {
        let pause = self.next.mul_f64(1.0 + 0.25 * self.jitter);
        self.next = (2 * self.next).clamp(FIRST_PAUSE, LAST_PAUSE);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_begin_anew() {
        let mut pause = Pause::new(0, 0);
        let pauses: Vec<u128> = (0..8).map(|_| pause.next().as_millis()).collect();
        assert_eq!(pauses, [0, 50, 100, 200, 400, 800, 1600, 2000]);
        pause.reset();
        assert_eq!(pause.next(), Duration::ZERO);
    }
}
