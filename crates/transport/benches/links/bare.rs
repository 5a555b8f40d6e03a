//! The baselines: the same libraries with the same ciphers and settings, and nothing else.

use std::sync::Arc;
use std::time::Duration;

use ::iroh::endpoint::{Connection, QuicTransportConfig, RecvStream, SendStream, presets};
use ::iroh::{Endpoint, EndpointAddr, RelayMode};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use super::{BYTES, ROUNDS, WARM_UP, Watch, address_of_zero, key};

pub(crate) fn tls(own: usize, agents: usize) {
    run(async move {
        let mut links = Vec::new();
        if own == 0 {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            println!("{}", listener.local_addr().unwrap());
            let acceptor = TlsAcceptor::from(server());
            for _ in 1..agents {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                links.push(TlsStream::from(acceptor.accept(stream).await.unwrap()));
            }
        } else {
            let stream = TcpStream::connect(address_of_zero()).await.unwrap();
            stream.set_nodelay(true).unwrap();
            let name = ServerName::try_from("consort").unwrap();
            let connector = TlsConnector::from(client());
            links.push(TlsStream::from(connector.connect(name, stream).await.unwrap()));
        }
        exchange(links.into_iter().map(tokio::io::split).collect()).await;
    });
}

pub(crate) fn iroh(own: usize, agents: usize) {
    run(async move {
        // The window with which it drops the fewest of its own packets.
        let config = QuicTransportConfig::builder().send_window(150_000).build();
        let endpoint = Endpoint::builder(presets::Minimal)
            .relay_mode(RelayMode::Disabled)
            .secret_key(::iroh::SecretKey::from_bytes(key(own).as_bytes()))
            .alpns(vec![b"bench".to_vec()])
            .transport_config(config)
            .clear_ip_transports()
            .bind_addr("127.0.0.1:0")
            .unwrap()
            .bind()
            .await
            .unwrap();
        let mut links: Vec<(RecvStream, SendStream)> = Vec::new();
        let mut connections: Vec<Connection> = Vec::new();
        if own == 0 {
            println!("{}", endpoint.bound_sockets()[0]);
            for _ in 1..agents {
                let connection = endpoint.accept().await.unwrap().await.unwrap();
                let (writer, mut reader) = connection.accept_bi().await.unwrap();
                reader.read_exact(&mut [0]).await.unwrap();
                links.push((reader, writer));
                connections.push(connection);
            }
        } else {
            let zero = ::iroh::SecretKey::from_bytes(key(0).as_bytes()).public();
            let zero = EndpointAddr::new(zero).with_ip_addr(address_of_zero());
            let connection = endpoint.connect(zero, b"bench").await.unwrap();
            let (mut writer, reader) = connection.open_bi().await.unwrap();
            // The far end sees a stream only after it has received something over it.
            writer.write_all(&[0]).await.unwrap();
            links.push((reader, writer));
            connections.push(connection);
        }
        exchange(links).await;
        let _ = tokio::time::timeout(Duration::from_secs(2), endpoint.close()).await;
    });
}

fn run(task: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(task);
}

async fn exchange<R, W>(mut links: Vec<(R, W)>)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let message: Arc<[u8]> = vec![7; BYTES].into();
    let mut watch = Watch::start();
    for round in 0..WARM_UP + ROUNDS {
        if round == WARM_UP {
            watch = Watch::start();
        }
        let tasks = links.drain(..).map(|(mut reader, mut writer)| {
            let message = message.clone();
            tokio::spawn(async move {
                let mut came = vec![0; BYTES];
                let send = async {
                    writer.write_all(&message).await.unwrap();
                    writer.flush().await.unwrap();
                };
                let (_, received) = tokio::join!(send, reader.read_exact(&mut came));
                received.unwrap();
                (reader, writer)
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            links.push(task.await.unwrap());
        }
    }
    watch.print();
    let wait = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new()));
    let _ = wait.await;
}

/// Any key will do here.
fn server() -> Arc<ServerConfig> {
    let config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth();
    let spki = key(0).public().unwrap();
    let spki = [&hex("302a300506032b6570032100")[..], spki.as_bytes()].concat();
    let secret = [&hex("302e020100300506032b657004220420")[..], key(0).as_bytes()].concat();
    let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(secret));
    let key = provider().key_provider.load_private_key(secret).unwrap();
    let own = rustls::sign::CertifiedKey::new(vec![CertificateDer::from(spki)], key);
    let own = rustls::server::AlwaysResolvesServerRawPublicKeys::new(Arc::new(own));
    Arc::new(config.with_cert_resolver(Arc::new(own)))
}

fn client() -> Arc<ClientConfig> {
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AcceptAll))
        .with_no_client_auth();
    Arc::new(config)
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn hex(digits: &str) -> Vec<u8> {
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// Accepts every key: the baseline measures bytes, not trust.
#[derive(Debug)]
struct AcceptAll;

impl rustls::client::danger::ServerCertVerifier for AcceptAll {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: rustls::pki_types::UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        vec![rustls::SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
